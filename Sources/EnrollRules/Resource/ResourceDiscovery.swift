// The content of the public documents about a resource and the servers that issue tokens for it (RFC 9728,
// RFC 8414).

/// The metadata of a resource and of its authorization server.
public struct ResourceDiscovery: Equatable, Sendable {
  /// The URL of the resource, as the host passed it.
  public let url: String
  /// The resource for which tokens are requested. If metadata is published only for the whole server, this is the
  /// server's origin.
  public let resource: String
  /// The URL at which the resource's metadata was found; nil for a resource without metadata.
  public let metadataURI: String?
  /// The name that the resource gives itself, which nothing proves; nil if it gives no name.
  public let name: String?
  /// The issuers that the resource names. For a resource without metadata, the issuer that the host chose, or the
  /// resource's origin.
  public let authorizationServers: [String]
  /// The chosen issuer, whose metadata was read. The text is spelt as the issuer spells it in that metadata.
  public let issuer: String
  /// The page that the user is sent to.
  public let authorizationEndpoint: String
  /// The scopes that the challenge names or, if it names no scopes, the scopes that the resource lists; nil if both
  /// name no scopes.
  public let scopes: [String]?
  /// Whether the server registers clients (RFC 7591).
  public let canRegister: Bool
  /// Whether the server accepts the URL of a client id metadata document as a client id.
  public let takesClientMetadataDocuments: Bool
  /// Whether the resource accepts only tokens that are bound to a key (RFC 9449).
  public let requiresDPoP: Bool
  package let server: AuthorizationServer

  package init(
    url: String, resource: String, metadataURI: String?, name: String?, authorizationServers: [String],
    scopes: [String]?, requiresDPoP: Bool, server: AuthorizationServer
  ) {
    self.url = url
    self.resource = resource
    self.metadataURI = metadataURI
    self.name = name
    self.authorizationServers = authorizationServers
    self.scopes = scopes
    self.requiresDPoP = requiresDPoP
    self.server = server
    issuer = server.metadata.issuer.text
    authorizationEndpoint = server.metadata.authorizationEndpoint
    canRegister = server.registrationEndpoint != nil
    takesClientMetadataDocuments = server.takesClientMetadataDocuments
  }

  /// Whether the resource names this server.
  package func names(_ issuer: Issuer) -> Bool {
    issuer == Issuer(self.issuer) || authorizationServers.contains { Issuer($0).isSameServer(as: issuer) }
  }
}
