// `POST /v1/auth/{provider}/redeem`: an app sends the one-time code of its redirect, and the verifier for its
// challenge, and gets a session token (flows.md §10). The endpoints that an app calls with its session token are below.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollJSON
import EnrollHTTP

/// The endpoints for apps.
struct AppEndpoints: GatewaySteps {
  let services: GatewayServices
  let store: any SessionStore
  let sessions: GatewaySessions
  /// The limit for failure reports. They need their own limit, because apps send them without a session.
  let reports: RequestBudget

  func redeem(_ request: WebRequest, _ provider: String) throws(Interruption) -> WebResponse {
    guard services.isEmail(provider) || providers.contains(where: { ASCII.equals($0.name, provider) }) else {
      return .refusal("invalid_request", "the gateway has no provider of this name", status: 404)
    }
    guard let json = request.json, let code = json["code"]?.string,
      let verifier = json["code_verifier"]?.string
    else {
      return .refusal("invalid_request", "expected a JSON object with code and code_verifier")
    }
    guard let codeHash = RandomToken.hash(of: code), let challenge = Self.challenge(of: verifier) else {
      return .refusal("invalid_grant", "the code or the verifier is not one of the gateway's form")
    }
    let (token, hash) = try internalCall { () throws(EnrollError) in try RandomToken.make(random) }
    let session = try sessions.newSession(hash, app: nil, for: request)
    let now = now
    let redemption = try callingStore { () throws(StoreFailure) in
      try store.redeem(
        codeHash: codeHash, provider: provider, challenge: challenge, session: session, at: now,
        from: AuditOrigin(of: request))
    }
    switch redemption {
    case .created(let account):
      log.write(.info, "\(provider): account \(account.id) signed in to an app")
      return .json(
        .object([("session_token", .string(token)), ("expires_in", .integer(settings.absoluteSeconds))]))
    case .unknown: return .refusal("invalid_grant", "the code is not known")
    case .expired: return .refusal("invalid_grant", "the code has expired; begin the sign-in again")
    case .otherProvider: return .refusal("invalid_grant", "the code came from another provider")
    case .otherVerifier: return .refusal("invalid_grant", "code_verifier is not that of code_challenge")
    case .reused:
      log.write(.warning, "\(provider): a code was used twice; the session that it gave is ended")
      return .refusal("invalid_grant", "the code was used before; the session that it gave is ended")
    }
  }

  /// The challenge of a verifier; nil unless the verifier has 43 to 128 unreserved characters (RFC 7636 §4.1).
  private static func challenge(of verifier: String) -> String? {
    let isVerifier =
      (43...128).contains(verifier.utf8.count)
      && verifier.utf8.allSatisfy {
        ASCII.isLetter($0) || ASCII.isDigit($0) || [0x2D, 0x2E, 0x5F, 0x7E].contains($0)
      }
    return isVerifier ? try? PKCE.challenge(for: Secret(verifier)) : nil
  }
}

// MARK: Bearer endpoints

extension AppEndpoints {
  /// The account's claims as OpenID Connect names them (Core §5.3).
  func userinfo(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let session = try sessions.bearerSession(request) else { return Self.unauthorized }
    return .json(claims(of: session))
  }

  /// `{sub, email}` (back-end.md, Check registration).
  func registrationCheck(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let session = try sessions.bearerSession(request) else { return Self.unauthorized }
    return .json(
      .object([
        ("sub", .string(session.account.id.text)), ("email", session.identity.email.map { .string($0) }),
      ]))
  }

  /// Accepts the profile that the user confirmed in the app. The profile came from the gateway, so there is nothing to
  /// store.
  func receiveProfile(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard try sessions.bearerSession(request) != nil else { return Self.unauthorized }
    return WebResponse(204)
  }

  /// Receives an app's report of a failure, and writes the report to the log (back-end.md, Profile and failures).
  func receiveErrorReport(_ request: WebRequest) -> WebResponse {
    guard let json = request.json, let code = json["code"]?.string else {
      return .refusal("invalid_request", "expected a JSON object with code")
    }
    guard reports.take() else {
      return .refusal(
        "temporarily_unavailable", "too many reports; send it later", status: 429,
        headers: [HTTPHeader("Retry-After", "10")])
    }
    let told = PrintableText.bounded(json["message"]?.string ?? "", maximumBytes: 200)
    log.write(.warning, "app reports \(PrintableText.bounded(code, maximumBytes: 64)): \(told)")
    return WebResponse(204)
  }

  /// Ends the session of a token (RFC 7009). An unknown token is no error (§2.2).
  func revoke(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let token = request.form?["token"] else {
      return .refusal("invalid_request", "expected a form with token")
    }
    if let hash = RandomToken.hash(of: token) {
      try callingStore { () throws(StoreFailure) in
        try store.endSession(tokenHash: hash, at: now, from: AuditOrigin(of: request))
      }
    }
    return WebResponse(200)
  }

  /// The discovery document. In an app that uses the gateway as its back end, EnrollKit finds the userinfo endpoint
  /// with it.
  func discovery(_ request: WebRequest) -> WebResponse {
    let base = settings.publicURL
    return .json(
      .object([
        ("issuer", .string(base)), ("authorization_endpoint", .string(base + "/login")),
        ("token_endpoint", .string(base + "/v1/token")),
        ("userinfo_endpoint", .string(base + "/v1/userinfo")),
        ("revocation_endpoint", .string(base + "/v1/revoke")), ("jwks_uri", .string(base + "/v1/keys")),
        ("response_types_supported", .array([.string("code")])),
        ("code_challenge_methods_supported", .array([.string("S256")])),
      ]), headers: [HTTPHeader("Cache-Control", "max-age=3600")])
  }

  private func claims(of session: LiveSession) -> JSON {
    let identity = session.identity
    return .object([
      ("sub", .string(session.account.id.text)), ("name", identity.name.map { .string($0) }),
      ("email", identity.email.map { .string($0) }),
      ("email_verified", identity.email.map { _ in .bool(identity.isEmailVerified) }),
    ])
  }

  static let unauthorized = WebResponse.refusal(
    "invalid_token", "the session is unknown or has ended", status: 401,
    headers: [HTTPHeader("WWW-Authenticate", "Bearer error=\"invalid_token\"")])
}

extension WebRequest {
  /// The body as JSON; nil for another content type, or if the body is not JSON.
  var json: JSON? {
    guard let type = value(of: "Content-Type") else { return nil }
    let name = String(Substring(type.utf8.prefix { $0 != 0x3B && $0 != 0x20 }))
    guard ASCII.equalsIgnoringCase(name, "application/json") else { return nil }
    return try? JSON.parse(body)
  }
}
