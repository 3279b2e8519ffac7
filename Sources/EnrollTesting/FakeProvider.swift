// A provider without a network: a transport that answers as an OpenID provider does, and misbehaves when told to.
// For tests of hosts and of the steps; what needs real HTTP, pages and a browser is in the sandbox.

public import EnrollCore
import EnrollCrypto
import EnrollHost
public import EnrollJSON

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
    /// No answer comes in time, and the server did no work.
    case timeout
    /// An answer with this status instead of the proper one; the server did no work.
    case status(Int, headers: [HTTPHeader] = [], body: String = "")
    /// As it should be; to be queued between others.
    case proper
    /// Runs while the server holds the request, then answers as it should.
    case during(@Sendable () -> Void)
  }

  /// The issuer, as a `Configuration` names it.
  public let issuer: String
  private let clock: any Clock
  private let key: PrivateKey
  private let state = Guarded(State(), by: Mutex())

  private struct State {
    var replies: [(Endpoint, Reply)] = []
    var requests: [(Endpoint, HTTPRequest)] = []
    var codes: [String: Grant] = [:]
    var refreshTokens: [String: Grant] = [:]
    var deviceCodes: [String: Grant] = [:]
    /// Who waits for a one-time code.
    var recipients: [String] = []
    var issued = 0
    /// Queries by the names that clients got.
    var pushed: [String: String] = [:]
    /// Thumbprints of the keys that access tokens are bound to.
    var bound: [String: String] = [:]
    /// Of proofs: each works once.
    var identifiers: Set<String> = []
    var revoked: [String] = []
    var settings = Settings()
  }

  private struct Grant {
    var clientID: String
    var subject: String
    var nonce: String?
    var challenge: String
    var redirectURI: String
    var hasOpenID: Bool
    /// Of the key that its tokens are bound to.
    var thumbprint: String?
    /// When its refresh token was rotated; the token is kept for the time of grace.
    var rotated: UnixTime?
  }

  /// What the provider says of itself and puts into tokens.
  public struct Settings: Sendable {
    /// What it says in `expires_in`; nil for nothing.
    public var lifetime: JSON? = .integer(3600)
    /// `sub` of the user who signs in.
    public var subject = "alice"
    /// Whether it gives a refresh token at all.
    public var givesRefreshToken = true
    /// Whether each renewal brings another refresh token, and ends the old one.
    public var rotates = true
    /// For how long the refresh token before the current one may be sent again, in seconds.
    public var graceSeconds: Int64 = 0
    /// Whether a renewal brings an id_token too.
    public var givesIDTokenOnRefresh = true
    /// Announces DPoP with these algorithms, and binds tokens to the key of whoever proves one (RFC 9449).
    public var dpopAlgorithms: [String] = []
    /// Answers Bearer tokens to those who prove a key, too.
    public var answersBearer = false
    /// What every proof must hold; a request without it is refused, and told.
    public var dpopNonce: String?
    /// Announces an endpoint for pushed authorization requests.
    public var takesPushedRequests = false
    /// Edits the claims before they are signed.
    public var claims: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Edits the discovery document.
    public var metadata: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Seconds by which the server's clock differs.
    public var clockOffsetSeconds: Int64 = 0
    /// `sub` of what userinfo says; nil for the user of the token.
    public var userinfoSubject: String?
    /// The one-time code that everybody gets.
    public var oneTimeCode = "123456"
    /// What a poll of a device code gets: nil for tokens, else the error.
    public var deviceError: String? = "authorization_pending"
    /// Edits the answer of the device authorization endpoint.
    public var deviceAuthorization: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Edits the claims that userinfo tells.
    public var userinfo: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Edits what the registration check answers.
    public var checkAnswer: @Sendable (inout JSONObject) -> Void = { _ in }
  }

  /// Makes a provider with a key of its own.
  /// - Throws: when there is no OpenSSL.
  public init(issuer: String = "https://id.example", clock: any Clock) throws {
    self.issuer = issuer
    self.clock = clock
    key = try PrivateKey.generate(.ec(.p256))
  }

  /// Changes what the provider says from now on.
  public func change(_ edit: (inout Settings) -> Void) { state.withLock { edit(&$0.settings) } }

  /// Queues how coming requests to `endpoint` end.
  public func next(_ endpoint: Endpoint, _ replies: Reply...) {
    state.withLock { $0.replies += replies.map { (endpoint, $0) } }
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

  /// Tokens that were revoked.
  public var revoked: [String] { state.withLock { $0.revoked } }

  /// Forgets every refresh token: all sessions are over.
  public func endSessions() { state.withLock { $0.refreshTokens = [:] } }

  /// Plays the user who signs in at the authorize URL.
  /// - Returns: the redirect URL, with code, state and iss.
  public func signIn(at url: String, extra: String = "") -> String {
    let query = request(at: url)
    let code = state.withLock { state -> String in
      state.issued += 1
      let code = "code-\(state.issued)"
      state.codes[code] = Grant(
        clientID: query["client_id"] ?? "", subject: state.settings.subject, nonce: query["nonce"],
        challenge: query["code_challenge"] ?? "",
        redirectURI: query["redirect_uri"] ?? "",
        hasOpenID: (query["scope"] ?? "").split(separator: " ").contains("openid"),
        thumbprint: query["dpop_jkt"])
      return code
    }
    return
      "\(query["redirect_uri"] ?? "")?code=\(code)&state=\(query["state"] ?? "")&iss=\(encoded(issuer))\(extra)"
  }

  /// Plays the provider that answers with an error.
  public func refuse(_ url: String, error: String) -> String {
    let query = request(at: url)
    return
      "\(query["redirect_uri"] ?? "")?error=\(error)&state=\(query["state"] ?? "")&iss=\(encoded(issuer))"
  }

  /// The parameters of an authorize request, pushed or not.
  private func request(at url: String) -> [String: String] {
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
      throw EnrollError(.network, "nobody is at \(request.url)")
    }
    let reply = state.withLock { state -> Reply in
      state.requests.append((endpoint, request))
      guard let index = state.replies.firstIndex(where: { $0.0 == endpoint }) else { return .proper }
      return state.replies.remove(at: index).1
    }
    switch reply {
    case .unreachable: throw EnrollError(.network, "unreachable")
    case .timeout: throw EnrollError(.timeout, "no answer in time")
    case .status(let status, let headers, let body):
      return HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    case .answerLost:
      _ = answer(request, endpoint)
      throw EnrollError(.network, "the connection was lost")
    case .during(let body):
      body()
      return answer(request, endpoint)
    case .proper: return answer(request, endpoint)
    }
  }

  private func endpoint(of request: HTTPRequest) -> Endpoint? {
    switch request.url {
    case issuer + ProviderMetadata.wellKnownPath: .discovery
    case issuer + "/keys": .keys
    case issuer + "/token": .token
    case issuer + "/userinfo": .userinfo
    case issuer + "/revoke": .revocation
    case issuer + "/par": .pushed
    case issuer + "/introspect": .introspection
    case issuer + "/device": .deviceAuthorization
    case issuer + "/check": .registrationCheck
    case issuer + "/profile": .profileUpdate
    case issuer + "/errors": .errorReport
    case issuer + "/passwordless/start": .passwordless
    default: nil
    }
  }

  private func answer(_ request: HTTPRequest, _ endpoint: Endpoint) -> HTTPResponse {
    switch endpoint {
    case .discovery: return json(200, discovery())
    case .keys: return json(200, keys())
    case .deviceAuthorization: return authorizeDevice(form(request))
    case .revocation: return revoke(form(request))
    case .registrationCheck: return registrationCheck()
    case .profileUpdate, .errorReport: return HTTPResponse(status: 204)
    case .passwordless: return startPasswordless(request)
    case .token, .userinfo, .pushed, .introspection:
      let thumbprint: String?
      switch proof(of: request, endpoint) {
      case .none: thumbprint = nil
      case .good(let key): thumbprint = key
      case .refused(let refusal): return refusal
      }
      switch endpoint {
      case .token: return token(form(request), thumbprint)
      case .userinfo: return userinfo(request, thumbprint)
      case .introspection: return introspect(request, thumbprint)
      default: return push(request, thumbprint)
      }
    }
  }

  private enum Proof {
    case none
    case good(String)
    case refused(HTTPResponse)
  }

  private func proof(of request: HTTPRequest, _ endpoint: Endpoint) -> Proof {
    let settings = state.withLock { $0.settings }
    guard !settings.dpopAlgorithms.isEmpty, request.headers.contains(where: { $0.name == "DPoP" }) else {
      return .none
    }
    let now = clock.wallTime() + settings.clockOffsetSeconds
    guard let proof = CheckedProof(of: request, now: now),
      state.withLock({ $0.identifiers.insert(proof.identifier).inserted })
    else { return .refused(refusal("invalid_dpop_proof")) }
    guard let nonce = settings.dpopNonce, proof.nonce != nonce else { return .good(proof.thumbprint) }
    var demand = endpoint == .userinfo ? HTTPResponse(status: 401) : refusal("use_dpop_nonce")
    if endpoint == .userinfo {
      demand.headers.append(HTTPHeader("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#))
    }
    demand.headers.append(HTTPHeader("DPoP-Nonce", nonce))
    return .refused(demand)
  }

  private func discovery() -> JSON {
    var document = JSONObject([
      ("issuer", .string(issuer)), ("authorization_endpoint", .string(issuer + "/authorize")),
      ("token_endpoint", .string(issuer + "/token")), ("jwks_uri", .string(issuer + "/keys")),
      ("userinfo_endpoint", .string(issuer + "/userinfo")),
      ("revocation_endpoint", .string(issuer + "/revoke")),
      ("introspection_endpoint", .string(issuer + "/introspect")),
      ("end_session_endpoint", .string(issuer + "/logout")),
      ("device_authorization_endpoint", .string(issuer + "/device")),
      ("response_types_supported", .array([.string("code")])),
      ("code_challenge_methods_supported", .array([.string("S256")])),
      ("authorization_response_iss_parameter_supported", .bool(true)),
    ])
    let settings = state.withLock { $0.settings }
    if !settings.dpopAlgorithms.isEmpty {
      document["dpop_signing_alg_values_supported"] = .array(settings.dpopAlgorithms.map { .string($0) })
    }
    if settings.takesPushedRequests {
      document["pushed_authorization_request_endpoint"] = .string(issuer + "/par")
    }
    settings.metadata(&document)
    return .object(document)
  }

  private func keys() -> JSON {
    guard case .ec(_, let x, let y) = key.publicKey.components else { return .null }
    return .object([
      (
        "keys",
        .array([
          .object([
            ("kty", .string("EC")), ("crv", .string("P-256")), ("kid", .string("key-1")),
            ("alg", .string("ES256")),
            ("use", .string("sig")), ("x", .string(Base64URL.encode(x))), ("y", .string(Base64URL.encode(y))),
          ])
        ])
      )
    ])
  }

  private func token(_ form: [String: String], _ thumbprint: String?) -> HTTPResponse {
    switch form["grant_type"] {
    case "authorization_code":
      guard var grant = state.withLock({ $0.codes.removeValue(forKey: form["code"] ?? "") }),
        grant.redirectURI == form["redirect_uri"], grant.clientID == form["client_id"],
        grant.thumbprint == nil || grant.thumbprint == thumbprint,
        let digest = try? Digest.sha256.hash(Array((form["code_verifier"] ?? "").utf8)),
        Base64URL.encode(digest) == grant.challenge
      else { return refusal("invalid_grant") }
      grant.thumbprint = thumbprint
      return tokens(for: grant, isRefresh: false)
    case "refresh_token":
      let given = form["refresh_token"] ?? ""
      let now = clock.wallTime()
      let grant = state.withLock { state -> Grant? in
        let grace = state.settings.graceSeconds
        guard var grant = state.refreshTokens[given], grant.thumbprint == thumbprint,
          grant.rotated.map({ now.since($0) <= grace }) ?? true
        else { return nil }
        guard state.settings.rotates else { return grant }
        state.refreshTokens = state.refreshTokens.filter {
          $0.value.rotated.map { now.since($0) <= grace } ?? true
        }
        grant.rotated = grant.rotated ?? now
        state.refreshTokens[given] = grace > 0 ? grant : nil
        grant.rotated = nil
        return grant
      }
      guard let grant else { return refusal("invalid_grant") }
      return tokens(for: grant, isRefresh: true)
    case "http://auth0.com/oauth/grant-type/passwordless/otp": return redeemOneTimeCode(form)
    case "urn:ietf:params:oauth:grant-type:device_code": return poll(form["device_code"] ?? "", thumbprint)
    default: return refusal("unsupported_grant_type")
    }
  }

  private func startPasswordless(_ request: HTTPRequest) -> HTTPResponse {
    let body = try? JSON.parse(request.body)
    guard let recipient = (body?["email"] ?? body?["phone_number"])?.string else {
      return refusal("bad.connection")
    }
    state.withLock { $0.recipients.append(recipient) }
    return json(200, .object([("_id", .string("1"))]))
  }

  private func redeemOneTimeCode(_ form: [String: String]) -> HTTPResponse {
    let subject = state.withLock { state -> String? in
      guard form["otp"] == state.settings.oneTimeCode,
        let index = state.recipients.firstIndex(where: { $0 == form["username"] })
      else { return nil }
      state.recipients.remove(at: index)
      return state.settings.subject
    }
    guard let subject else { return json(403, .object([("error", .string("invalid_grant"))])) }
    let grant = Grant(
      clientID: form["client_id"] ?? "", subject: subject, nonce: nil, challenge: "", redirectURI: "",
      hasOpenID: (form["scope"] ?? "").split(separator: " ").contains("openid"))
    return tokens(for: grant, isRefresh: false)
  }

  /// RFC 8628 §3.2.
  private func authorizeDevice(_ form: [String: String]) -> HTTPResponse {
    let (number, settings) = state.withLock { state in
      state.issued += 1
      state.deviceCodes["device-\(state.issued)"] = Grant(
        clientID: form["client_id"] ?? "", subject: state.settings.subject, nonce: nil, challenge: "",
        redirectURI: "",
        hasOpenID: (form["scope"] ?? "").split(separator: " ").contains("openid"))
      return (state.issued, state.settings)
    }
    var answer = JSONObject([
      ("device_code", .string("device-\(number)")), ("user_code", .string("WDJB-MJHT")),
      ("verification_uri", .string(issuer + "/activate")),
      ("verification_uri_complete", .string(issuer + "/activate?user_code=WDJB-MJHT")),
      ("expires_in", .integer(600)), ("interval", .integer(5)),
    ])
    settings.deviceAuthorization(&answer)
    return json(200, .object(answer))
  }

  /// RFC 8628 §3.5.
  private func poll(_ deviceCode: String, _ thumbprint: String?) -> HTTPResponse {
    let (grant, error) = state.withLock { state -> (Grant?, String?) in
      if let error = state.settings.deviceError { return (nil, error) }
      return (state.deviceCodes.removeValue(forKey: deviceCode), nil)
    }
    guard var grant else { return refusal(error ?? "invalid_grant") }
    grant.thumbprint = thumbprint
    return tokens(for: grant, isRefresh: false)
  }

  private func tokens(for grant: Grant, isRefresh: Bool) -> HTTPResponse {
    let (number, settings) = state.withLock { state in
      state.issued += 1
      if !isRefresh || state.settings.rotates, state.settings.givesRefreshToken {
        state.refreshTokens["refresh-\(state.issued)"] = grant
      }
      return (state.issued, state.settings)
    }
    let access = "access-\(number)"
    let isBound = grant.thumbprint != nil && !settings.answersBearer
    if isBound { state.withLock { $0.bound[access] = grant.thumbprint } }
    let givesRefreshToken = settings.givesRefreshToken && (!isRefresh || settings.rotates)
    let givesIDToken = grant.hasOpenID && (!isRefresh || settings.givesIDTokenOnRefresh)
    return json(
      200,
      .object([
        ("access_token", .string(access)), ("token_type", .string(isBound ? "DPoP" : "Bearer")),
        ("expires_in", settings.lifetime),
        ("refresh_token", givesRefreshToken ? .string("refresh-\(number)") : nil),
        ("id_token", givesIDToken ? .string(idToken(for: grant, isRefresh: isRefresh, settings)) : nil),
      ]))
  }

  private func idToken(for grant: Grant, isRefresh: Bool, _ settings: Settings) -> String {
    let now = clock.wallTime().seconds + settings.clockOffsetSeconds
    var claims = JSONObject([
      ("iss", .string(issuer)), ("sub", .string(grant.subject)), ("aud", .string(grant.clientID)),
      ("exp", .integer(now + 3600)), ("iat", .integer(now)), ("auth_time", .integer(1_600_000_000)),
      ("nonce", isRefresh ? nil : grant.nonce.map { .string($0) }), ("name", .string("Alice Example")),
    ])
    settings.claims(&claims)
    let header = JSON.object([("alg", .string("ES256")), ("kid", .string("key-1")), ("typ", .string("JWT"))])
    let signed =
      Base64URL.encode(header.serialized()) + "." + Base64URL.encode(JSON.object(claims).serialized())
    let signature = (try? key.sign(Array(signed.utf8), algorithm: .ES256)) ?? []
    return signed + "." + Base64URL.encode(signature)
  }

  private func introspect(_ request: HTTPRequest, _ thumbprint: String?) -> HTTPResponse {
    guard isShown(request, thumbprint) else { return HTTPResponse(status: 401) }
    let token = form(request)["token"] ?? ""
    let isKnown = state.withLock { $0.refreshTokens[token] != nil } || token.hasPrefix("access-")
    return json(200, .object([("active", .bool(isKnown)), ("client_id", .string("native"))]))
  }

  /// Whether the request shows an access token as its type wants it.
  private func isShown(_ request: HTTPRequest, _ thumbprint: String?) -> Bool {
    let given = request.headers.first { $0.name == "Authorization" }?.value ?? ""
    let words = given.split(separator: " ")
    let bound = state.withLock { $0.bound[words.count == 2 ? String(words[1]) : ""] }
    return words.count == 2 && bound == thumbprint && words[0] == (bound == nil ? "Bearer" : "DPoP")
  }

  private func userinfo(_ request: HTTPRequest, _ thumbprint: String?) -> HTTPResponse {
    guard isShown(request, thumbprint) else { return HTTPResponse(status: 401) }
    let settings = state.withLock { $0.settings }
    var claims = JSONObject([
      ("sub", .string(settings.userinfoSubject ?? settings.subject)),
      ("email", .string("alice@example.com")),
    ])
    settings.userinfo(&claims)
    return json(200, .object(claims))
  }

  private func registrationCheck() -> HTTPResponse {
    let settings = state.withLock { $0.settings }
    var answer = JSONObject([("sub", .string(settings.subject)), ("email", .string("alice@example.com"))])
    settings.checkAnswer(&answer)
    return json(200, .object(answer))
  }

  private func push(_ request: HTTPRequest, _ thumbprint: String?) -> HTTPResponse {
    let named = form(request)["dpop_jkt"]
    guard thumbprint == nil || named == thumbprint else { return refusal("invalid_dpop_proof") }
    let name = state.withLock { state -> String in
      state.issued += 1
      let name = "urn:ietf:params:oauth:request_uri:\(state.issued)"
      state.pushed[name] = String(decoding: request.body, as: UTF8.self)
      return name
    }
    return json(201, .object([("request_uri", .string(name)), ("expires_in", .integer(60))]))
  }

  private func revoke(_ form: [String: String]) -> HTTPResponse {
    let token = form["token"] ?? ""
    state.withLock {
      $0.revoked.append(token)
      $0.refreshTokens[token] = nil
    }
    return HTTPResponse(status: 200)
  }

  private func refusal(_ error: String) -> HTTPResponse { json(400, .object([("error", .string(error))])) }

  private func json(_ status: Int, _ body: JSON) -> HTTPResponse {
    let offset = state.withLock { $0.settings.clockOffsetSeconds }
    return HTTPResponse(
      status: status,
      headers: [
        HTTPHeader("Content-Type", "application/json"),
        HTTPHeader("Date", httpDate(clock.wallTime() + offset)),
      ], body: body.serialized())
  }
}
