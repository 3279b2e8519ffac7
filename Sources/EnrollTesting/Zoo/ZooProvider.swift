// A provider in memory that speaks as one of the providers that people use, at that provider's own addresses, with its
// refusals. It is played from documents and reports, and was never compared with the service itself.

public import EnrollCore
import EnrollCrypto
import EnrollHost
public import EnrollJSON
import EnrollPosix

/// Answers as one provider of the ``Zoo`` does; a transport for a client whose configuration names the real addresses.
///
/// ```swift
/// let zoo = try ZooProvider("google-desktop", clock: FakeClock())
/// let client = try EnrollClient(configuration: …, store: .memory, transport: zoo)
/// let begun = try await client.begin()
/// if case .redirect(let url) = zoo.authorize(begun.url) { _ = try await client.resume(url) }
/// ```
public final class ZooProvider: Transport, @unchecked Sendable {
  // Unchecked: all mutable state is in `state`.

  /// What a client is to the provider.
  public struct Registration: Sendable {
    /// The name that the provider gave it.
    public var clientID: String
    /// The secret that goes with it, where the provider gives one.
    public var secret: String
    /// Registered as they are.
    public var redirectURIs: [String]
    /// Registered as they are, for the return from a logout.
    public var postLogoutRedirectURIs: [String]

    /// A client of these names.
    public init(
      clientID: String = "native", secret: String = "zoo-published-secret",
      redirectURIs: [String] = ["com.example.app:/callback"],
      postLogoutRedirectURIs: [String] = ["com.example.app:/logout"]
    ) {
      self.clientID = clientID
      self.secret = secret
      self.redirectURIs = redirectURIs
      self.postLogoutRedirectURIs = postLogoutRedirectURIs
    }
  }

  /// What a request is for.
  public enum Role: String, Sendable, CaseIterable {
    /// A discovery document, by whatever specification.
    case discovery
    /// The key set.
    case keys
    /// Tokens for codes, refresh tokens and device codes.
    case token
    /// The profile.
    case userinfo
    /// The second request for the profile, where there is one.
    case emails
    /// The end of a token.
    case revocation
    /// RFC 8628 §3.1.
    case device
    /// RFC 9126.
    case pushed
    /// An address at which nothing is.
    case nowhere
  }

  /// What the browser shows or does.
  public enum Page: Equatable, Sendable {
    /// The browser goes to this URL.
    case redirect(String)
    /// The browser stays at the provider.
    case stays(status: Int, text: String)
  }

  /// The name of the dialect.
  public let id: String
  /// What it plays.
  public let dialect: Dialect
  /// The client that it knows.
  public let registration: Registration
  /// The user's tenant, where the provider has tenants.
  public static let tenant = "0f1e2d3c-4b5a-4678-9abc-def012345678"
  let values: [String: String]
  let clock: any Clock
  /// Signs, redeems and counts; the dialect is what stands around it.
  let fake: FakeProvider
  let state = Guarded(State(), by: Mutex())

  struct State {
    var requests: [(Role, HTTPRequest)] = []
    /// Who is signed in at the provider, in the browser.
    var browserUser: String?
    /// Refresh tokens of sessions that began on a device without a browser.
    var deviceTokens: Set<String> = []
    var twists: Set<Twist> = []
    var deviceCodeSeconds: Int64 = 600
    var renewals = 0
    /// Those of the last sign-in.
    var scopes: [String] = []
    var claims: @Sendable (inout JSONObject) -> Void = { _ in }
  }

  /// - Parameters:
  ///   - id: a provider of the ``Zoo``.
  ///   - registration: its only client.
  ///   - values: for the places `<…>` of the dialect, over samples.
  ///   - clock: tells it the time.
  /// - Throws: ``DialectError``; when there is no OpenSSL.
  public convenience init(
    _ id: String, registration: Registration = Registration(), values: [String: String] = [:],
    clock: any Clock
  ) throws {
    try self.init(Zoo.entry(id), registration: registration, values: values, clock: clock)
  }

  /// - Throws: when there is no OpenSSL.
  public init(
    _ entry: ZooEntry, registration: Registration = Registration(), values: [String: String] = [:],
    clock: any Clock
  ) throws {
    id = entry.id
    dialect = entry.dialect
    self.registration = registration
    self.values = Places.samples.merging(["client_id": registration.clientID]) { $1 }.merging(values) { $1 }
    self.clock = clock
    let issuer = Places.filled(entry.dialect.issuer, self.values)
    fake = FakeProvider(
      issuer: issuer, clock: clock, key: try ZooKeys.shared(entry.dialect.idToken.algorithm))
    fake.change { set(&$0) }
  }

  /// The issuer, with the places filled in.
  public var issuer: String { fake.issuer }

  /// Every request so far.
  public var requests: [(role: Role, request: HTTPRequest)] {
    state.withLock { $0.requests.map { (role: $0.0, request: $0.1) } }
  }

  /// How many requests arrived for this.
  public func count(_ role: Role) -> Int { state.withLock { $0.requests.count { $0.0 == role } } }

  /// Queues how coming requests end that the dialect does not refuse.
  public func next(_ endpoint: FakeProvider.Endpoint, _ replies: FakeProvider.Reply...) {
    for reply in replies { fake.next(endpoint, reply) }
  }

  /// Misbehaves so from now on.
  public func twist(_ twist: Twist) {
    state.withLock { _ = $0.twists.insert(twist) }
    fake.change { set(&$0) }
  }

  /// Edits the claims of coming id_tokens, after the dialect: an account may be peculiar, too.
  public func editClaims(_ edit: @escaping @Sendable (inout JSONObject) -> Void) {
    state.withLock { $0.claims = edit }
  }

  /// A JWT with these claims by the key of the provider's id_tokens: a notification, say.
  /// - Throws: when there is no OpenSSL.
  public func signed(_ claims: JSONObject) throws -> String { try fake.signed(claims) }

  /// Where the profile is.
  var profileURL: String { fake.address(of: .userinfo) }

  func has(_ twist: Twist) -> Bool { state.withLock { $0.twists.contains(twist) } }

  func filled(_ text: String) -> String { Places.filled(text, values) }

  // MARK: Transport

  public func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError)
    -> HTTPResponse
  {
    let role = role(of: request.url)
    state.withLock { $0.requests.append((role, request)) }
    switch role {
    case .nowhere: return page(404)
    case .discovery: return try sendDiscovery(request, cancellation)
    case .emails: return emails(request)
    case .keys: return try fake.send(request, cancellation: cancellation)
    case .userinfo: return try sendUserinfo(request, cancellation)
    case .token: return try sendToken(request, cancellation)
    case .device, .pushed, .revocation: return try sendOther(role, request, cancellation)
    }
  }

  private func role(of url: String) -> Role {
    if documents.contains(where: { $0.url == url }) { return .discovery }
    if url == dialect.userinfo.emails { return .emails }
    let roles: [(FakeProvider.Endpoint, Role)] = [
      (.keys, .keys), (.token, .token), (.userinfo, .userinfo), (.revocation, .revocation),
      (.deviceAuthorization, .device), (.pushed, .pushed),
    ]
    return roles.first { fake.address(of: $0.0) == url && has($0.1) }?.1 ?? .nowhere
  }

  /// Whether the provider has such an endpoint at all.
  private func has(_ role: Role) -> Bool {
    switch role {
    case .device: dialect.device.style != .none
    case .pushed: dialect.par.isAnnounced
    case .revocation: dialect.revocation.style == .rfc7009 || dialect.revocation.style == .token
    case .keys: dialect.idToken.presence != .never
    default: true
    }
  }

  func page(_ status: Int) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [HTTPHeader("Content-Type", "text/html")],
      body: Array("<!doctype html><title>\(status)</title>".utf8))
  }

  func json(_ status: Int, _ body: JSON) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [HTTPHeader("Content-Type", "application/json")], body: body.serialized())
  }
}

/// Keys for all providers of a process: an RSA key takes long to make.
enum ZooKeys {
  private static let rsa = Result { try PrivateKey.generate(.rsa(bits: 2048)) }
  private static let ec = Result { try PrivateKey.generate(.ec(.p256)) }
  /// Under the same `kid` as the other, where a twist wants that.
  static let otherRSA = Result { try PrivateKey.generate(.rsa(bits: 2048)) }

  static func shared(_ algorithm: String) throws -> PrivateKey {
    try algorithm == "ES256" ? ec.get() : rsa.get()
  }
}

/// The places `<…>` in addresses.
enum Places {
  static let samples = [
    "host": "login.example.org", "fs": "fs.example.org", "realm": "acme", "r": "alpha", "slug": "app",
    "tenant": ZooProvider.tenant, "tenant-guid": ZooProvider.tenant, "guid": ZooProvider.tenant,
    "env": ZooProvider.tenant, "org": "dev-1", "name": "acme", "t": "acme", "policy": "b2c_1_signin",
    "region": "eu-central-1", "pool": "eu-central-1_Abc123", "sub": "acme", "instance": "acme.zitadel.cloud",
    "domain": "acme.auth.eu-central-1.amazoncognito.com", "mydomain": "acme",
  ]

  /// A place without a value stays as it is.
  static func filled(_ text: String, _ values: [String: String]) -> String {
    values.reduce(text) { $0.replacing("<\($1.key)>", with: $1.value) }
  }

  /// Whether `text` fits `pattern`, in which `<…>` is any text that is not empty.
  static func fits(_ text: Substring, _ pattern: Substring) -> Bool {
    guard let open = pattern.firstIndex(of: "<"), let close = pattern[open...].firstIndex(of: ">") else {
      return text == pattern
    }
    guard text.hasPrefix(pattern[..<open]) else { return false }
    let rest = text.dropFirst(pattern[..<open].count)
    let after = pattern[pattern.index(after: close)...]
    return rest.indices.dropFirst().contains { fits(rest[$0...], after) }
      || (!rest.isEmpty && after.isEmpty)
  }
}
