// `POST /v1/token`: an app sends its session token as bearer token, and gets an access token for the APIs
// behind the gateway. The access token is a JWT (RFC 9068) that APIs check offline with the keys of `GET
// /v1/keys`; it is valid for five minutes. So an API may accept a session for five minutes after its end;
// userinfo and the registration check refuse an ended session at once. A new key signs no token in the first day
// after its publication, so that every API can load it in time.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollHTTP

/// Access tokens for APIs.
struct AccessTokens: GatewaySteps {
  let services: GatewayServices
  let sessions: GatewaySessions

  static let accessTokenSeconds: Int64 = 300
  /// How long APIs may cache the keys.
  static let keysAgeSeconds: Int64 = 3_600
  /// The number of random bytes in `jti`.
  private static let jtiByteCount = 16

  /// `POST /v1/token`
  func accessToken(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard !settings.apis.isEmpty else {
      return .refusal("invalid_request", "the gateway is configured for no API: set apis", status: 404)
    }
    guard let session = try sessions.bearerSession(request), let app = session.app else {
      return AppEndpoints.unauthorized
    }
    guard let audience = audience(request) else {
      return .refusal(
        "invalid_target",
        "expected a form, or nothing; resource names an API of the gateway's apis (RFC 8707)")
    }
    let (keys, now) = (keys, now)
    let token = try internalCall { () throws(EnrollError) in
      let key = keys.signingKey(at: now)
      return try SignedJWT.make(
        header: [("typ", .string("at+jwt")), ("kid", .string(key.id))],
        claims: [
          ("iss", .string(settings.publicURL)), ("sub", .string(session.account.id.text)), ("aud", audience),
          ("client_id", .string(app)), ("iat", .integer(now.seconds)),
          ("exp", .integer((now + Self.accessTokenSeconds).seconds)),
          ("jti", .string(Base64URL.encode(try random.bytes(Self.jtiByteCount)))),
          ("sid", .string(session.id.text)),
        ], by: key.key, SigningKey.algorithm)
    }
    return .json(
      .object([
        ("access_token", .string(token.reveal())), ("token_type", .string("Bearer")),
        ("expires_in", .integer(Self.accessTokenSeconds)),
      ]), headers: [HTTPHeader("Cache-Control", "no-store")])
  }

  /// The audience of the token: the API that the form names, or all APIs if the form names no API. nil for an API that
  /// is not configured, and for a body that is not a form.
  private func audience(_ request: WebRequest) -> JSON? {
    let all: JSON =
      settings.apis.count == 1
      ? .string(settings.apis[0]) : .array(settings.apis.map { .string($0) })
    guard !request.body.isEmpty else { return all }
    guard let form = request.form else { return nil }
    guard let resource = form["resource"] else { return all }
    return settings.apis.first { ASCII.equals($0, resource) }.map { .string($0) }
  }

  /// `GET /v1/keys` (RFC 7517 §5)
  func publicKeys(_ request: WebRequest) -> WebResponse {
    .json(
      .object([("keys", .array(keys.signingKeys.map(\.published)))]),
      headers: [HTTPHeader("Cache-Control", "public, max-age=\(Self.keysAgeSeconds)")])
  }
}
