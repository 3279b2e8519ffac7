// A provider without a network: a transport that answers as an OpenID provider does, and misbehaves when told to.
// For tests of hosts and of the steps; what needs real HTTP, pages and a browser is in the sandbox.

public import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix

/// Answers discovery, JWKS, token, userinfo and revocation requests in memory.
public final class FakeProvider: Transport, @unchecked Sendable {
  // Unchecked: all mutable state is in `state`.

  /// The endpoints that can misbehave and be counted.
  public enum Endpoint: String, Sendable, CaseIterable {
    /// The discovery document.
    case discovery
    /// The keys of its id_tokens.
    case keys
    /// Codes, refresh tokens, device codes and one-time codes are exchanged here.
    case token
    /// The profile of an access token.
    case userinfo
    /// RFC 7009.
    case revocation
    /// RFC 8628 §3.1.
    case deviceAuthorization
    /// Where a one-time code or a link is asked for.
    case passwordless
    /// RFC 7662; wants the access token that it is asked about, or its refresh token's, in the header.
    case introspection
    /// RFC 9126; announced with ``Settings/takesPushedRequests``.
    case pushed
    /// The host's back end (flows.md §7).
    case registrationCheck, profileUpdate, errorReport
  }

  /// How the next request to an endpoint ends.
  public enum Reply: Sendable {
    /// Nothing arrives at the server.
    case unreachable
    /// The server does its work, and its answer is lost.
    case answerLost
    /// The server does its work, and the end of its answer is lost: so many bytes. With 0 the answer is whole, and its frame
    /// is not.
    case cut(bytes: Int)
    /// No answer comes in time, and the server did no work.
    case timeout
    /// An answer with this status instead of the proper one; the server did no work.
    case status(Int, headers: [HTTPHeader] = [], body: String = "")
    /// The response is not HTTP, and the server did no work.
    case garbled
    /// As it should be; to be queued between others.
    case proper
    /// Runs while the server holds the request, then answers as it should.
    case during(@Sendable () -> Void)
  }

  /// The issuer, as a `Configuration` names it.
  public let issuer: String
  let clock: any Clock
  let state: Guarded<State>

  struct State {
    var key: PrivateKey
    var replies: [(Endpoint, Reply)] = []
    var requests: [(Endpoint, HTTPRequest)] = []
    var codes: [String: Grant] = [:]
    var refreshTokens: [String: Grant] = [:]
    /// Refresh tokens that were rotated, with the family that each belongs to.
    var rotatedTokens: [String: Int] = [:]
    var deviceCodes: [String: Grant] = [:]
    /// The recipients who wait for a one-time code.
    var recipients: [String] = []
    var issued = 0
    /// Queries by the names that clients got.
    var pushed: [String: String] = [:]
    /// Thumbprints of the keys that access tokens are bound to.
    var bound: [String: String] = [:]
    /// For whom access tokens are, where a renewal named somebody.
    var audiences: [String: Audience] = [:]
    /// Of proofs: each works once.
    var identifiers: Set<String> = []
    var revoked: [String] = []
    var settings = Settings()
  }

  struct Grant {
    var clientID: String
    var subject: String
    var nonce: String?
    var challenge: String
    var redirectURI: String
    var scopes: [String] = []
    /// The resource that its refresh token is bound to.
    var resource: String?
    var hasOpenID: Bool
    /// The sign-in that its refresh tokens come of.
    var family = 0
    /// The thumbprint of the key that its tokens are bound to.
    var thumbprint: String?
    /// When its refresh token was rotated; the token is kept for the time of grace.
    var rotated: UnixTime?
  }

  /// For whom an access token is: the parameters `resource` and `scope` of the renewal that brought it.
  public struct Audience: Equatable, Sendable {
    /// The resource server; nil where none was named.
    public var resource: String?
    /// The scopes; nil where none were named.
    public var scope: String?

    /// For whom a renewal asked for a token.
    public init(resource: String? = nil, scope: String? = nil) {
      self.resource = resource
      self.scope = scope
    }
  }

  /// Makes a provider with a key of its own.
  /// - Throws: when there is no OpenSSL.
  public convenience init(issuer: String = "https://id.example", clock: any Clock) throws {
    self.init(issuer: issuer, clock: clock, key: try PrivateKey.generate(.ec(.p256)))
  }

  init(issuer: String, clock: any Clock, key: PrivateKey) {
    self.issuer = issuer
    self.clock = clock
    state = Guarded(State(key: key), by: Mutex())
  }

  /// Signs with another key from now on, and publishes that one instead, under the same `kid`.
  /// - Throws: when there is no OpenSSL.
  public func changeKey() throws {
    let key = try PrivateKey.generate(.ec(.p256))
    state.withLock { $0.key = key }
  }

  /// Changes what the provider says from now on.
  public func change(_ edit: (inout Settings) -> Void) { state.withLock { edit(&$0.settings) } }

  /// Queues how coming requests to `endpoint` end.
  public func next(_ endpoint: Endpoint, _ replies: Reply...) {
    state.withLock { $0.replies += replies.map { (endpoint, $0) } }
  }

  /// Coming requests to `endpoint` end as they should again.
  public func recover(_ endpoint: Endpoint) {
    state.withLock { $0.replies.removeAll { $0.0 == endpoint } }
  }

  /// How many requests arrived there.
  public func count(_ endpoint: Endpoint) -> Int {
    state.withLock { $0.requests.count { $0.0 == endpoint } }
  }

  /// The requests themselves, in their order.
  public func requests(_ endpoint: Endpoint) -> [HTTPRequest] {
    state.withLock { $0.requests.filter { $0.0 == endpoint }.map(\.1) }
  }

  /// Forgets the requests so far, for tests that send very many: all counts begin again.
  public func forgetRequests() { state.withLock { $0.requests = [] } }

  /// The current answer of its keys endpoint.
  public var keySet: String { String(decoding: keys().serialized(), as: UTF8.self) }

  /// Tokens that were revoked.
  public var revoked: [String] { state.withLock { $0.revoked } }

  /// For whom an access token is; nil for one that no renewal limited.
  public func audience(of accessToken: String) -> Audience? { state.withLock { $0.audiences[accessToken] } }

  /// Forgets every refresh token: all sessions are over.
  public func endSessions() { state.withLock { $0.refreshTokens = [:] } }

  /// Plays the user who signs in at the authorize URL.
  /// - Returns: the redirect URL, with code, state and iss.
  public func signIn(at url: String, extra: String = "") -> String {
    let query = request(at: url)
    return
      "\(query["redirect_uri"] ?? "")?code=\(code(for: query))&state=\(query["state"] ?? "")&iss=\(encoded(issuer))\(extra)"
  }

  /// A code for whoever signs in with an authorize request of these parameters.
  func code(for query: [String: String]) -> String {
    let scopes = (query["scope"] ?? "").split(separator: " ").map(String.init)
    return state.withLock { state -> String in
      state.issued += 1
      let code = "code-\(state.issued)"
      state.codes[code] = Grant(
        clientID: query["client_id"] ?? "", subject: state.settings.subject, nonce: query["nonce"],
        challenge: query["code_challenge"] ?? "", redirectURI: query["redirect_uri"] ?? "", scopes: scopes,
        hasOpenID: scopes.contains("openid"), family: state.issued, thumbprint: query["dpop_jkt"])
      return code
    }
  }

  /// Plays the provider that answers with an error.
  public func refuse(_ url: String, error: String) -> String {
    let query = request(at: url)
    return
      "\(query["redirect_uri"] ?? "")?error=\(error)&state=\(query["state"] ?? "")&iss=\(encoded(issuer))"
  }

  /// The parameters of an authorize request, pushed or not.
  func request(at url: String) -> [String: String] {
    let query = parameters(of: url)
    guard let name = query["request_uri"], let pushed = state.withLock({ $0.pushed[name] }) else {
      return query
    }
    return parameters(of: "\(issuer)/authorize?\(pushed)")
  }

  // MARK: Transport

  public func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError)
    -> HTTPResponse
  {
    guard let endpoint = endpoint(of: request) else {
      if request.url == issuer + "/token" {
        return HTTPResponse(status: 404, body: Array("<p>Not found".utf8))
      }
      throw EnrollError(.network, "no server is at \(request.url)")
    }
    let reply = state.withLock { state -> Reply in
      state.requests.append((endpoint, request))
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

  /// Where an endpoint is.
  func address(of endpoint: Endpoint) -> String {
    let settings = state.withLock { $0.settings }
    if let address = settings.addresses[endpoint] { return address }
    let path =
      switch endpoint {
      case .discovery: ProviderMetadata.wellKnownPath
      case .keys: "/keys"
      case .token: settings.tokenPath
      case .userinfo: "/userinfo"
      case .revocation: "/revoke"
      case .pushed: "/par"
      case .introspection: "/introspect"
      case .deviceAuthorization: "/device"
      case .registrationCheck: "/check"
      case .profileUpdate: "/profile"
      case .errorReport: "/errors"
      case .passwordless: "/passwordless/start"
      }
    return issuer + path
  }

  private func endpoint(of request: HTTPRequest) -> Endpoint? {
    Endpoint.allCases.first { address(of: $0) == request.url }
  }
}
