// All named faults in one table. The sandbox reads control requests with this table, `--faults` prints the table, and
// the tests use each of its rows.

import EnrollJSON

/// A row of the table.
struct NamedFault: Sendable {
  var name: String
  /// The endpoints where the fault can be planned; the first one is the default.
  var endpoints: [Endpoint]
  var value: Value
  /// One sentence about the effect.
  var summary: String
  var make: @Sendable (Endpoint, Arguments) -> [Fault.Effect]

  /// The type of the member `value` in the control request, and whether the request also names a `member`.
  enum Value: String, Sendable {
    case none, integer, text, any, member
    case memberAndText = "member, text"
    case memberAndAny = "member, any"

    var hasMember: Bool { [.member, .memberAndText, .memberAndAny].contains(self) }
  }

  /// The parameters of the control request, already of the right type.
  struct Arguments: Sendable {
    var integer: Int64 = 0
    var text = ""
    var any: JSON = .null
    /// The member, claim or parameter to which a general fault applies.
    var member = ""
    var retryAfter: String?
  }
}

public enum FaultTable {
  /// The table as text: name, endpoints, value, effect.
  public static var text: String {
    rows.map { row in
      let value = row.value == .none ? "" : "  value: \(row.value.rawValue)"
      let places =
        row.endpoints.count == every.count
        ? "every endpoint" : row.endpoints.map(\.rawValue).joined(separator: ", ")
      return "\(row.name)\n    \(row.summary)\n    at: \(places)\(value)"
    }.joined(separator: "\n")
  }

  /// The endpoints that answer a client with JSON.
  static let data: [Endpoint] = [
    .token, .discovery, .jwks, .userinfo, .pushed, .otherAppInit, .otherAppComplete,
    .registrationCheck, .introspection,
  ]
  /// All endpoints where a fault can be planned.
  static let every = data + Endpoint.allCases.filter { !data.contains($0) && $0 != .control }
  static let evil = "https://evil.example"

  static let rows: [NamedFault] = transport + answers + redirects + idTokens + keySets

  static func row(_ name: String) -> NamedFault? { rows.first { $0.name == name } }

  private static let transport: [NamedFault] = [
    row("dropBefore", every, "the connection closes; the request had no effect") { [.dropBefore] },
    row("dropAfter", every, "the request takes effect, its answer is lost: after a rotation, too") {
      [.dropAfter]
    },
    row("halfBody", every, "half of the announced body, then the connection closes") { [.halfBody] },
    row("delay", every, .integer, "the answer comes that many milliseconds later") {
      [.delay(milliseconds: $1.integer)]
    },
    row("status", every, .integer, "an empty answer with that status; `retryAfter` adds the header") {
      [.status(Int(clamping: $1.integer), retryAfter: $1.retryAfter)]
    },
    row("serverError", every, "503, empty") { [.status(503)] },
    row("tooMany", every, .none, "429 with Retry-After, 1 unless `retryAfter` says otherwise") {
      [.status(429, retryAfter: $1.retryAfter ?? "1")]
    },
    row("redirect", every, .text, "307 to the given address") { [.redirect(to: $1.text)] },
    row("garbage", every, "a 200 whose body is not JSON") { [.garbage] },
    row("emptyBody", every, "a 200 with no body") { [.emptyBody] },
    row("hugeBody", every, .integer, "a JSON body of that many bytes") {
      [.hugeBody(bytes: Int(clamping: $1.integer))]
    },
    row("deepNesting", every, "JSON nested 100,000 deep") { [.deepNesting(levels: 100_000)] },
    row("compressed", every, "Content-Encoding: gzip on a plain body") { [.compressed] },
    row("contentType", every, .text, "another Content-Type") { [.contentType($1.text)] },
    row("dateOffset", every, .integer, "seconds added to the Date header") {
      [.dateOffset(seconds: $1.integer)]
    },
    row("clockOffset", [.token], .integer, "a server whose clock is off: Date, iat, exp, auth_time") {
      [.dateOffset(seconds: $1.integer), .shiftTimes(seconds: $1.integer)]
    },
  ]

  private static let answers: [NamedFault] = [
    row(
      "oauthError",
      [
        .token, .authorize, .revocation, .introspection, .userinfo, .pushed, .deviceAuthorization,
        .passwordless, .otherAppInit, .otherAppComplete,
      ], .text,
      "that OAuth error code"
    ) {
      [.oauthError($1.text)]
    },
    row("omitMember", data + [.deviceAuthorization], .member, "leaves out `member` of the JSON answer") {
      [.omitMember($1.member)]
    },
    row(
      "setMember", data + [.deviceAuthorization], .memberAndAny,
      "gives `member` of the JSON answer that value"
    ) {
      [.setMember($1.member, $1.any)]
    },
    row("repeatMember", data, .memberAndAny, "`member` occurs twice, the second time with that value") {
      [.repeatMember($1.member, $1.any)]
    },
    row("omitExpiresIn", [.token], "no expires_in") { [.omitMember("expires_in")] },
    row("textExpiresIn", [.token], "expires_in is the text \"300\"") {
      [.setMember("expires_in", .string("300"))]
    },
    row("negativeExpiresIn", [.token], "expires_in is -1") { [.setMember("expires_in", .integer(-1))] },
    row("absurdExpiresIn", [.token], "expires_in is the greatest 64-bit integer") {
      [.setMember("expires_in", .integer(.max))]
    },
    row("fractionalExpiresIn", [.token], "expires_in is 300.5") {
      [.setMember("expires_in", .number(300.5))]
    },
    row("omitAccessToken", [.token], "no access_token") { [.omitMember("access_token")] },
    row("omitTokenType", [.token], "no token_type") { [.omitMember("token_type")] },
    row("wrongTokenType", [.token], "token_type is `mac`") { [.setMember("token_type", .string("mac"))] },
    row("omitRefreshToken", [.token], "no refresh_token, although it was rotated") {
      [.omitMember("refresh_token")]
    },
    row("noRotation", [.token], "the refresh token stays valid and none is sent") { [.noRotation] },
    row("unbound", [.token], "a Bearer token although a key was proven (RFC 9449 §5)") { [.unbound] },
    row("demandNonce", [.token, .pushed, .userinfo], "use_dpop_nonce with another nonce (RFC 9449 §8)") {
      [.demandNonce]
    },
    row("omitIDToken", [.token], "no id_token") { [.omitMember("id_token")] },
    row(
      "wrongIssuer", [.discovery, .authorize, .token], .none,
      "another issuer: in the metadata, `iss`, the claim"
    ) {
      endpoint, _ in
      switch endpoint {
      case .discovery: [.setMember("issuer", .string(evil))]
      case .authorize: [.setParameter("iss", evil)]
      default: [.setClaim("iss", .string(evil))]
      }
    },
    row(
      "wrongSubject", [.token, .userinfo, .registrationCheck], .none,
      "another `sub`: in the id_token, from userinfo, from the check"
    ) {
      endpoint, _ in
      endpoint == .token
        ? [.setClaim("sub", .string("somebody-else"))] : [.setMember("sub", .string("somebody-else"))]
    },
  ]

  private static let redirects: [NamedFault] = [
    row("omitIssuer", [.authorize], "no `iss` in the redirect although announced") {
      [.omitParameter("iss")]
    },
    row("wrongState", [.authorize, .endSession, .otherApp], "another `state`") {
      [.setParameter("state", "other")]
    },
    row("omitState", [.authorize, .endSession, .otherApp], "no `state`") {
      [.omitParameter("state")]
    },
    row("repeatCode", [.authorize], "`code` occurs twice") { [.repeatParameter("code")] },
    row("codeAndError", [.authorize], "`error` beside `code`") {
      [.setParameter("error", "server_error")]
    },
    row("fragment", [.authorize], .text, "a fragment on the redirect") { [.fragment($1.text)] },
    row(
      "setParameter", [.authorize, .endSession, .otherApp], .memberAndText,
      "gives `member` of the redirect that value"
    ) {
      [.setParameter($1.member, $1.text)]
    },
    row(
      "omitParameter", [.authorize, .endSession, .otherApp], .member,
      "leaves out `member` of the redirect"
    ) {
      [.omitParameter($1.member)]
    },
  ]

  private static let idTokens: [NamedFault] = [
    row("wrongNonce", [.token], "another nonce") { [.setClaim("nonce", .string("other"))] },
    row("omitNonce", [.token], "no nonce") { [.omitClaim("nonce")] },
    row("wrongAudience", [.token], "meant for somebody else") {
      [.setClaim("aud", .string("somebody-else"))]
    },
    row("moreAudiences", [.token], "two audiences, no azp") {
      [.addAudience("somebody-else")]
    },
    row("wrongAuthorizedParty", [.token], "azp is somebody else") {
      [.setClaim("azp", .string("somebody-else"))]
    },
    row("expiredIDToken", [.token], "all its times are a day ago") { [.shiftTimes(seconds: -86400)] },
    row("tokenTimeOffset", [.token], .integer, "seconds added to iat, exp and auth_time") {
      [.shiftTimes(seconds: $1.integer)]
    },
    row("wrongAccessTokenHash", [.token], "at_hash of another token") {
      [.setClaim("at_hash", .string("AAAAAAAAAAAAAAAAAAAAAA"))]
    },
    row("omitClaim", [.token], .member, "leaves out the claim `member`") { [.omitClaim($1.member)] },
    row("setClaim", [.token], .memberAndAny, "gives the claim `member` that value") {
      [.setClaim($1.member, $1.any)]
    },
    row("wrongSignature", [.token], "one bit of the signature is turned") { [.sign(.broken)] },
    row("foreignKey", [.token], "signed by a key that is not in the set") { [.sign(.foreignKey)] },
    row("algNone", [.token], "alg none, no signature") { [.sign(.none)] },
    row("hmacSigned", [.token], "HS256 with the client id as the key") { [.sign(.hmac)] },
    row("unknownKeyID", [.token], "a kid that is in no set") {
      [.setHeader("kid", .string("unknown"))]
    },
    row("omitKeyID", [.token], "no kid") { [.setHeader("kid", nil)] },
    row("criticalHeader", [.token], "a critical extension that nobody knows") {
      [.setHeader("crit", .array([.string("b64")])), .setHeader("b64", .bool(true))]
    },
  ]

  private static let keySets: [NamedFault] = [
    row("emptyKeySet", [.jwks], "no key") { [.keySet(.empty)] },
    row("duplicateKeyID", [.jwks], "two keys for one kid") { [.keySet(.duplicateKeyID)] },
    row("wrongUse", [.jwks], "keys for encryption only") { [.keySet(.wrongUse)] },
    row("weakKey", [.jwks], "RSA keys of 1024 bits") { [.keySet(.weakKey)] },
    row("tooManyKeys", [.jwks], "101 keys") { [.keySet(.tooMany)] },
  ]

  private static func row(
    _ name: String, _ endpoints: [Endpoint], _ value: NamedFault.Value = .none, _ summary: String,
    _ make: @escaping @Sendable (Endpoint, NamedFault.Arguments) -> [Fault.Effect]
  ) -> NamedFault {
    NamedFault(name: name, endpoints: endpoints, value: value, summary: summary, make: make)
  }

  private static func row(
    _ name: String, _ endpoints: [Endpoint], _ summary: String,
    _ make: @escaping @Sendable () -> [Fault.Effect]
  ) -> NamedFault {
    row(name, endpoints, .none, summary) { _, _ in make() }
  }
}
