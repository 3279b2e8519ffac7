// A provider without a network: a transport that answers like an OpenID provider, and misbehaves on request. It is for
// tests of hosts and of the steps; the sandbox is for tests that need real HTTP, pages and a browser.

public import EnrollRules
public import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix

/// Answers discovery, JWKS, token, userinfo and revocation requests in memory.
///
/// `FakeProvider(clock:)` follows the specifications and serves every client. With the id of one of the
/// ``KnownProviders`` it imitates that provider at its real URLs, and refuses what that provider refuses. Some
/// refusals are compared with the running server (Tests/system/RealTests/test_known_providers.py) or with recordings
/// of it; the other refusals follow documents and reports.
///
/// ```swift
/// let provider = try FakeProvider("google-desktop", clock: FakeClock())
/// let client = try EnrollClient(configuration: …, store: .memory, transport: provider)
/// let begun = try await client.begin()
/// if case .redirect(let url) = provider.authorize(begun.url) { _ = try await client.resume(url) }
/// ```
public final class FakeProvider: Transport, @unchecked Sendable {
  // Unchecked: all mutable state is in `state`.

  /// The endpoints that can misbehave and be counted.
  public enum Endpoint: String, Sendable, CaseIterable {
    /// A discovery document of any specification.
    case discovery
    /// The key set that verifies the provider's id_tokens.
    case keys
    /// The token endpoint, which exchanges codes, refresh tokens, device codes and one-time codes for tokens.
    case token
    /// The userinfo endpoint, with the profile of the access token's user.
    case userinfo
    /// The endpoint for the user's e-mail addresses, at providers that return the addresses separately.
    case emails
    /// Revocation (RFC 7009).
    case revocation
    /// Device authorization (RFC 8628 §3.1).
    case deviceAuthorization
    /// The endpoint that sends a one-time code or a link.
    case passwordless
    /// Introspection (RFC 7662). A public client must send an access token in the header.
    case introspection
    /// Pushed authorization requests (RFC 9126); announced with ``Settings/takesPushedRequests``.
    case pushed
    /// The host's back end (flows.md §7).
    case registrationCheck, profileUpdate, errorReport
  }

  /// What happens to the next request to an endpoint.
  public enum Reply: Sendable {
    /// The request does not reach the server.
    case unreachable
    /// The server processes the request, and its answer is lost.
    case answerLost
    /// The server processes the request, and the last bytes of its answer are lost. With 0 the body is complete, but
    /// the connection is lost before the client can know that.
    case cut(bytes: Int)
    /// No answer comes in time, and the server did not process the request.
    case timeout
    /// An answer with this status instead of the correct one; the server did not process the request.
    case status(Int, headers: [HTTPHeader] = [], body: String = "")
    /// The answer is not HTTP, and the server did not process the request.
    case garbled
    /// The correct answer. Queue it between other replies.
    case proper
    /// Runs the closure while the server processes the request, then sends the correct answer.
    case during(@Sendable () -> Void)
  }

  /// The registration of a client at the provider.
  public struct Registration: Sendable {
    /// The client id.
    public var clientID: String
    /// The client's secret, if the provider issues one.
    public var secret: String
    /// The registered redirect URIs.
    public var redirectURIs: [String]
    /// The registered URIs for the return from a logout.
    public var postLogoutRedirectURIs: [String]

    /// A registration with these values.
    public init(
      clientID: String = "native", secret: String = "published-secret-of-a-native-app",
      redirectURIs: [String] = ["com.example.app:/callback"],
      postLogoutRedirectURIs: [String] = ["com.example.app:/logout"]
    ) {
      self.clientID = clientID
      self.secret = secret
      self.redirectURIs = redirectURIs
      self.postLogoutRedirectURIs = postLogoutRedirectURIs
    }
  }

  /// The id of the dialect.
  public let id: String
  /// The dialect that the provider speaks.
  public let dialect: Dialect
  /// The provider's only client, unless the provider serves every client.
  public let registration: Registration
  /// Whether the provider serves every client with every redirect URI, as a provider without a dialect does.
  let servesEveryClient: Bool
  let urls: ProviderURLs
  let clock: any Clock
  let state: Guarded<State>

  /// A provider that follows the specifications, with its own key. It serves every client with every redirect URI.
  /// - Throws: if OpenSSL is missing.
  public convenience init(issuer: String = "https://id.example", clock: any Clock) throws {
    try self.init(
      "plain", Dialect.plain(issuer: issuer), Registration(), servesEveryClient: true, [:], clock,
      PrivateKey.generate(.ec(.p256)))
  }

  /// A provider that imitates a well-known provider.
  /// - Parameters:
  ///   - id: the id of one of the ``KnownProviders``.
  ///   - registration: the provider's only client.
  ///   - values: replacements for the placeholders `<…>` of the dialect; all other placeholders get sample values.
  ///   - clock: the clock of the provider.
  /// - Throws: ``DialectError``; or if OpenSSL is missing.
  public convenience init(
    _ id: String, registration: Registration = Registration(), values: [String: String] = [:],
    clock: any Clock
  ) throws {
    try self.init(KnownProviders.named(id), registration: registration, values: values, clock: clock)
  }

  /// A provider that imitates `entry`: one of the ``KnownProviders``, possibly with changes by the test.
  /// - Throws: if OpenSSL is missing.
  public convenience init(
    _ entry: KnownProvider, registration: Registration = Registration(), values: [String: String] = [:],
    clock: any Clock
  ) throws {
    try self.init(
      entry.id, entry.dialect, registration, servesEveryClient: false, values, clock,
      SharedKeys.shared(entry.dialect.idToken.algorithm))
  }

  private init(
    _ id: String, _ dialect: Dialect, _ registration: Registration, servesEveryClient: Bool,
    _ values: [String: String], _ clock: any Clock, _ key: PrivateKey
  ) {
    self.id = id
    self.dialect = dialect
    self.registration = registration
    self.servesEveryClient = servesEveryClient
    self.clock = clock
    urls = ProviderURLs(dialect, values: ["client_id": registration.clientID].merging(values) { $1 })
    state = Guarded(State(key: key, settings: Settings(dialect, urls)), by: Mutex())
  }

  /// The issuer for a `Configuration`, with its placeholders replaced.
  public var issuer: String { urls.issuer }

  /// Makes the provider sign with a new key from now on. The key set has the new key instead of the old key, under the
  /// same `kid`.
  /// - Throws: if OpenSSL is missing.
  public func changeKey() throws {
    let key = try PrivateKey.generate(.ec(.p256))
    state.withLock { $0.key = key }
  }

  /// Changes the provider's settings.
  public func change(_ edit: (inout Settings) -> Void) { state.withLock { edit(&$0.settings) } }

  /// Queues replies for the next requests to `endpoint`. A request that the dialect refuses uses up no reply.
  public func next(_ endpoint: Endpoint, _ replies: Reply...) {
    state.withLock { $0.replies += replies.map { (endpoint, $0) } }
  }

  /// Clears the queue: the next requests to `endpoint` get the correct answer.
  public func recover(_ endpoint: Endpoint) {
    state.withLock { $0.replies.removeAll { $0.0 == endpoint } }
  }

  /// Refuses the next token request with 429 (too many requests). The answer has `seconds` in the header that the
  /// provider uses for the pause.
  public func limit(seconds: Int64) {
    let name = dialect.token.retryHeader ?? "Retry-After"
    next(.token, .status(429, headers: [HTTPHeader(name, "\(seconds)")]))
  }

  /// How many requests the endpoint has received.
  public func count(_ endpoint: Endpoint) -> Int {
    state.withLock { $0.requests.count { $0.endpoint == endpoint } }
  }

  /// The requests to the endpoint, in order.
  public func requests(_ endpoint: Endpoint) -> [HTTPRequest] {
    state.withLock { $0.requests.filter { $0.endpoint == endpoint }.map(\.request) }
  }

  /// Every request so far, in order; the endpoint is nil if the URL belongs to no endpoint.
  public var requests: [(endpoint: Endpoint?, request: HTTPRequest)] { state.withLock { $0.requests } }

  /// Forgets the requests so far, so that all counts start at 0 again. For tests that send very many requests.
  public func forgetRequests() { state.withLock { $0.requests = [] } }

  /// The current answer of the keys endpoint.
  public var keySet: String { String(decoding: keys().serialized(), as: UTF8.self) }

  /// The tokens that were revoked.
  public var revoked: [String] { state.withLock { $0.revoked } }

  /// The resource and the scopes that were requested in the renewal which returned this access token; nil if the
  /// renewal requested neither.
  public func audience(of accessToken: String) -> Audience? { state.withLock { $0.audiences[accessToken] } }

  /// Forgets every refresh token, so that all sessions end.
  public func endSessions() { state.withLock { $0.refreshTokens = [:] } }

  // MARK: Transport

  public func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError)
    -> HTTPResponse
  {
    let endpoint = endpoint(at: request.url)
    state.withLock { $0.requests.append((endpoint, request)) }
    guard let endpoint else {
      if !servesEveryClient || [issuer + "/token", urls.documents[0].url].contains(request.url) {
        return page(404)
      }
      throw EnrollError(.network, "no server is at \(request.url)")
    }
    if let refusal = refusal(of: request, endpoint) { return refusal }
    let reply = state.withLock { state -> Reply in
      guard let index = state.replies.firstIndex(where: { $0.0 == endpoint }) else { return .proper }
      return state.replies.remove(at: index).1
    }
    switch reply {
    case .unreachable: throw EnrollError(.network, "unreachable").unsent()
    case .timeout: throw EnrollError(.timeout, "no answer in time")
    case .garbled: throw EnrollError(.responseInvalid, "the answer is not HTTP")
    case .status(let status, let headers, let body):
      return HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    case .answerLost:
      _ = answer(request, endpoint)
      throw EnrollError(.network, "the connection was lost")
    case .cut(let count):
      var response = answer(request, endpoint)
      let cut = EnrollError(.network, "the connection was lost before the whole answer had come")
      guard request.takesCutAnswer else { throw cut }
      response.body.removeLast(min(count, response.body.count))
      response.cut = cut
      return response
    case .during(let body):
      body()
      return answer(request, endpoint)
    case .proper: return answer(request, endpoint)
    }
  }

  /// The URL of an endpoint; empty if the provider does not have the endpoint.
  func address(of endpoint: Endpoint) -> String { state.withLock { $0.settings.addresses[endpoint] ?? "" } }

  private func endpoint(at url: String) -> Endpoint? {
    let settings = state.withLock { $0.settings }
    if urls.documents.dropFirst().contains(where: { $0.url == url }) { return .discovery }
    return Endpoint.allCases.first { settings.addresses[$0] == url && has($0, settings) }
  }

  /// Whether the provider has this endpoint.
  private func has(_ endpoint: Endpoint, _ settings: Settings) -> Bool {
    switch endpoint {
    case .discovery, .token, .userinfo, .emails: true
    case .keys: dialect.idToken.presence != .never || dialect.urls["jwks"] != nil
    case .revocation: hasRevocation
    case .deviceAuthorization: dialect.hasDeviceFlow
    case .pushed: servesEveryClient || settings.takesPushedRequests
    case .introspection, .passwordless, .registrationCheck, .profileUpdate, .errorReport: servesEveryClient
    }
  }

  /// Whether tokens are revoked as in RFC 7009, or in almost the same way.
  var hasRevocation: Bool { dialect.revocation.style == .rfc7009 || dialect.revocation.style == .token }
}

/// The keys that all fake providers of well-known providers in this process share, because generating an RSA key takes
/// long.
enum SharedKeys {
  private static let rsa = Result { try PrivateKey.generate(.rsa(bits: 2048)) }
  private static let ec = Result { try PrivateKey.generate(.ec(.p256)) }
  /// A second key; a hostile provider may publish the second key under the `kid` of the first key.
  static let otherRSA = Result { try PrivateKey.generate(.rsa(bits: 2048)) }

  static func shared(_ algorithm: String) throws -> PrivateKey {
    try algorithm == "ES256" ? ec.get() : rsa.get()
  }
}
