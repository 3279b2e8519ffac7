// A host's request for a resource (flows.md §12): the server, the redirect URI, and the client if the app has
// one.

public import EnrollCrypto

/// The data of the app, and the server that its user agreed to.
public struct ResourceRequest: Sendable {
  /// The resource that tokens are for.
  public var resource: String
  /// The server that the host showed to the user: one of the servers that the resource names.
  public var issuer: String
  /// The URI to which the browser returns.
  public var redirectURI: String
  /// The name of the app that the server's pages show, if a client is registered.
  public var clientName: String?
  /// The scopes to request; nil: the scopes that the resource lists, and `offline_access` if the server lists
  /// it.
  public var scopes: [String]?
  /// The client id, if the server knows the app already.
  public var clientID: String?
  /// The secret of the client ``clientID``; nil if that client has no secret.
  public var clientSecret: Secret?
  /// The https URL of the app's client id metadata document.
  public var clientMetadataURI: String?
  /// Whether to register again, because the server has deleted the client. If the server refused the client at a
  /// renewal, the client is registered again even if this is false.
  public var again = false
  /// The value of `WWW-Authenticate` of the resource's 401 or 403, if the host got such a response. The scopes in this
  /// challenge are requested.
  public var challenge: String?
  /// The result of an earlier discovery; nil: the resource is discovered again.
  public var discovery: ResourceDiscovery?
  /// The server that the resource named earlier, if the resource names a different server now. The client that was
  /// registered at the previous server is deleted.
  public var previousIssuer: String?
  /// Whether the app already listens on the port of ``redirectURI``. If so, the port is not tried before the first
  /// registration.
  public var holdsPort = false

  public init(resource: String, issuer: String, redirectURI: String) {
    self.resource = resource
    self.issuer = issuer
    self.redirectURI = redirectURI
  }
}
