// A client that this library registered at a server (RFC 7591 §3.2.1), as the store keeps it: sealed like an account, under what it
// was registered for.

public import EnrollCrypto
package import EnrollJSON

/// What a client is registered for: one client for each resource, redirect and server, and none is used in another trust.
public struct RegistrationName: Equatable, Hashable, Sendable {
  /// Four texts, a line feed between any two; none of them holds one.
  public let text: String

  init(issuer: Issuer, redirectURI: String, resource: ResourceIdentifier, trust: String) {
    text = issuer.text + "\n" + redirectURI + "\n" + resource.text + "\n" + trust
  }
}

/// A registered client.
public struct RegisteredClient: Equatable, Sendable {
  /// `client_id`.
  public var clientID: ClientID
  /// `client_secret`; nil for a public client.
  public var clientSecret: Secret?
  /// How the secret is sent; nil: as the server announces.
  public var secretMethod: ClientSecretMethod?
  /// `client_secret_expires_at`, by the device's clock; nil: never.
  public var secretExpiresAt: UnixTime?
  /// The scopes that it was registered with.
  public var scopes: [String]
  /// When it was registered, by the device's clock.
  public var registeredAt: UnixTime
  /// The configuration that it was registered for, as JSON without the client: what a host gets again without a request.
  public var configuration: String?

  /// Whether it serves a sign-in with the scopes that the host asks for now.
  /// - Parameter wanted: nil where the host names none: what the resource lists may change, and the client stays.
  func isUsable(scopes wanted: [String]?, at now: UnixTime) -> Bool {
    guard secretExpiresAt.map({ now < $0 }) ?? true else { return false }
    return wanted?.allSatisfy { Scopes.contains($0, in: scopes) } ?? true
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
        ("scopes", .strings(client.scopes)), ("registeredAt", .time(client.registeredAt)),
        ("configuration", client.configuration.map { .string($0) }),
      ]))
  }

  /// - Parameter name: nil: whatever it is of.
  /// - Throws: as ``AccountDocument/init(decoding:as:)``; `.storeCorrupt` as well for the client of another name.
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
    // RFC 7592 §3: earlier programs kept these two, and nothing has a use for them.
    _ = (object.optionalString("managementURI"), object.optionalSecret("managementToken"))
    let client = RegisteredClient(
      clientID: ClientID(object.string("clientID")),
      clientSecret: object.optionalSecret("clientSecret"), secretMethod: method,
      secretExpiresAt: object.optionalInteger("secretExpiresAt").map { UnixTime(seconds: $0) },
      scopes: object.strings("scopes"), registeredAt: object.time("registeredAt"),
      configuration: object.optionalString("configuration"))
    try object.end()
    return client
  }
}
