// A client that EnrollKit registered at a server (RFC 7591 §3.2.1), in the form that the store keeps. It is sealed like
// an account, and its name says for what the client was registered.

public import EnrollCrypto
package import EnrollJSON

/// The purpose of a registered client. Each resource, redirect URI and server has its own client. A client that was
/// registered with one set of trust settings is not used with different trust settings.
public struct RegistrationName: Equatable, Hashable, Sendable {
  /// The four arguments of `init` as text, separated by line feeds. No argument contains a line feed.
  public let text: String

  package init(issuer: Issuer, redirectURI: String, resource: ResourceIdentifier, trust: String) {
    text = issuer.text + "\n" + redirectURI + "\n" + resource.text + "\n" + trust
  }
}

/// A registered client.
public struct RegisteredClient: Equatable, Sendable {
  /// `client_id`.
  public var clientID: ClientID
  /// `client_secret`; nil for a public client.
  public var clientSecret: Secret?
  /// How the secret is sent; nil if it is sent as the server announces.
  public var secretMethod: ClientSecretMethod?
  /// `client_secret_expires_at`, by the device's clock; nil if the secret never expires.
  public var secretExpiresAt: UnixTime?
  /// The URL and the token with which the client can be deleted; nil if the server did not send them.
  public var management: ClientManagement?
  /// The scopes with which the client was registered; the server grants the client no other scopes. Empty if
  /// it was registered without scopes.
  public var registeredScopes: [String] = []
  /// The replaced clients, from the oldest to the newest. EnrollKit replaces a client when it needs further scopes. The
  /// session that uses the replaced client continues until the user has signed in with the new client.
  public var former: [ClientID] = []
  /// When the client was registered, by the device's clock.
  public var registeredAt: UnixTime
  /// The configuration for which the client was registered, as JSON without the client. A host can read the
  /// configuration here, without another request.
  public var configuration: String?

  package init(
    clientID: ClientID, clientSecret: Secret? = nil, secretMethod: ClientSecretMethod? = nil,
    secretExpiresAt: UnixTime? = nil, management: ClientManagement? = nil, registeredScopes: [String] = [],
    former: [ClientID] = [], registeredAt: UnixTime, configuration: String? = nil
  ) {
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.secretMethod = secretMethod
    self.secretExpiresAt = secretExpiresAt
    self.management = management
    self.registeredScopes = registeredScopes
    self.former = former
    self.registeredAt = registeredAt
    self.configuration = configuration
  }

  /// Whether the client can still be used: it has no secret, or its secret has not expired.
  package func isUsable(at now: UnixTime) -> Bool { secretExpiresAt.map { now < $0 } ?? true }

  /// Whether the client may request these scopes.
  package func serves(_ scopes: [String]) -> Bool {
    registeredScopes.isEmpty || scopes.allSatisfy { Scopes.contains($0, in: registeredScopes) }
  }

  /// Whether `client` is this client, or a client that this client replaced.
  package func isOrReplaced(_ client: ClientID) -> Bool { clientID == client || former.contains(client) }

  /// Replaces `client`, which stays in ``former``.
  package mutating func replace(_ client: RegisteredClient) {
    former = Array((client.former + [client.clientID]).suffix(Self.mostFormer))
  }

  /// The maximum number of replaced clients that are kept: enough for several failed sign-ins in a row.
  private static let mostFormer = 16

  /// The members of ``configuration``.
  package var keys: JSONObject? { configuration.flatMap { (try? JSON.parse(Array($0.utf8)))?.object } }

  /// The scopes of ``configuration``.
  package var scopes: [String] { keys?["scopes"]?.array?.compactMap { $0.string } ?? [] }
}

/// The data with which a client can be managed at the server (RFC 7592 §3).
public struct ClientManagement: Equatable, Sendable {
  /// `registration_client_uri`, the URL of the client's registration. Its origin is that of the registration endpoint.
  public var uri: String
  /// `registration_access_token`, which authorizes the request that deletes the client.
  public var token: Secret

  /// The request that deletes the client (RFC 7592 §2.3).
  package var deletion: HTTPRequest {
    var request = HTTPRequest(
      .delete, uri, headers: [HTTPHeader("Authorization", "Bearer " + token.reveal())])
    request.secrets = [token]
    return request
  }
}

extension RegisteredClient {
  package static let form = StoreForm<JSONObject>("client", newest: 1)

  /// - Returns: UTF-8 text that ``decode(_:of:as:)`` reads.
  package static func encoded(
    _ client: RegisteredClient, of name: RegistrationName, as form: StoreForm<JSONObject> = form
  ) -> Secret {
    StoreText.secret(
      .object([
        ("version", .integer(form.newest)), ("name", .string(name.text)),
        ("clientID", .string(client.clientID.text)),
        ("clientSecret", client.clientSecret.map { .secret($0) }),
        ("secretMethod", client.secretMethod.map { .string($0.rawValue) }),
        ("secretExpiresAt", client.secretExpiresAt.map { .time($0) }),
        ("managementURI", client.management.map { .string($0.uri) }),
        ("managementToken", client.management.map { .secret($0.token) }),
        ("scopes", .strings(client.registeredScopes)),
        ("former", client.former.isEmpty ? nil : .strings(client.former.map { $0.text })),
        ("registeredAt", .time(client.registeredAt)),
        ("configuration", client.configuration.map { .string($0) }),
      ]))
  }

  /// - Parameter name: the expected name; nil accepts any name.
  /// - Throws: as ``AccountDocument/init(decoding:as:)``; also `.storeCorrupt` for a client with another name.
  package static func decode(
    _ text: Secret, of name: RegistrationName? = nil, as form: StoreForm<JSONObject> = form
  ) throws(EnrollError) -> RegisteredClient {
    let (object, _) = try StoreText.document(try StoreText.parse(text, form.name), form)
    let kept = object.string("name")
    try object.check()
    if let name, !ASCII.equals(kept, name.text) {
      throw EnrollError(.storeCorrupt, "client: registered for something else", field: "name")
    }
    var method: ClientSecretMethod?
    if let word = object.optionalString("secretMethod") {
      method = ClientSecretMethod(rawValue: word)
      guard method != nil else {
        throw object.damaged(".secretMethod: unknown")
      }
    }
    var management: ClientManagement?
    let (uri, token) = (object.optionalString("managementURI"), object.optionalSecret("managementToken"))
    if let uri, let token { management = ClientManagement(uri: uri, token: token) }
    let client = RegisteredClient(
      clientID: ClientID(object.string("clientID")),
      clientSecret: object.optionalSecret("clientSecret"), secretMethod: method,
      secretExpiresAt: object.optionalInteger("secretExpiresAt").map { UnixTime(seconds: $0) },
      management: management, registeredScopes: object.strings("scopes"),
      former: (object.optionalStrings("former") ?? []).map { ClientID($0) },
      registeredAt: object.time("registeredAt"),
      configuration: object.optionalString("configuration"))
    try object.end()
    return client
  }
}
