// The logout token of a provider (OpenID Connect Back-Channel Logout 1.0 §2.4, §2.6). Its signature is verified before
// its claims are read. Refused: another issuer or another audience (if the configured issuer is a template, the issuer
// must be the issuer of the token's tenant, as in id_tokens); a token that has expired, is valid for longer than an
// hour, or is from the future; a token without the event, or without both `sub` and `sid`; a token with a nonce, which
// would make it an id_token.

import EnrollRules
import EnrollCrypto
import EnrollJSON

struct LogoutToken: Equatable {
  /// `iss`: the provider's issuer, or the issuer of one of its tenants.
  let issuer: Issuer
  /// `sub`
  let subject: String?
  /// `sid`
  let session: String?
  /// `jti`, which must be new.
  let id: String
  let issued: UnixTime
  /// The time until which the token's id must be remembered.
  let expires: UnixTime

  static let event = "http://schemas.openid.net/event/backchannel-logout"
  static let toleranceSeconds: Int64 = 300
  /// The longest validity. The specification recommends at most two minutes.
  static let longestSeconds: Int64 = 3_600
  /// The validity of a token without `exp`: providers that follow a draft from before the final specification (2022) do
  /// not send `exp`.
  static let defaultSeconds: Int64 = 120
  private static let idLimit = 512

  /// Checks the claims of a logout token.
  /// - Parameters:
  ///   - claims: the claims of a JWT whose signature was verified.
  ///   - provider: the configured issuer, or the template of issuers.
  ///   - tenants: the allowed tenants of the template; empty for all.
  /// - Throws: `.idTokenInvalid`, which names the invalid claim.
  init(
    _ claims: JSONObject, issuer provider: Issuer, tenants: [String], clientID: String, at now: UnixTime
  ) throws(EnrollError) {
    guard let issuer = claims["iss"]?.string.map({ Issuer($0) }) else { throw Self.refusal("iss is missing") }
    if let finding = provider.finding(issuer, tenant: claims["tid"]?.string, allowing: tenants) {
      throw Self.refusal(finding)
    }
    let audience = claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap { $0.string } ?? []
    guard audience.contains(where: { ASCII.equals($0, clientID) }) else {
      throw Self.refusal("aud is not the gateway's client id")
    }
    guard let issuedAt = Self.time(claims["iat"]) else { throw Self.refusal("iat is missing") }
    guard issuedAt <= now + Self.toleranceSeconds else { throw Self.refusal("iat is in the future") }
    guard now <= issuedAt + Self.longestSeconds else { throw Self.refusal("iat is more than an hour ago") }
    guard let end = Self.time(claims["exp"] ?? .integer((issuedAt + Self.defaultSeconds).seconds)) else {
      throw Self.refusal("exp is no number")
    }
    guard now < end + Self.toleranceSeconds else { throw Self.refusal("exp has passed") }
    guard end <= now + Self.longestSeconds else { throw Self.refusal("exp is more than an hour away") }
    guard claims["events"]?[Self.event]?.object != nil else {
      throw Self.refusal("events has no object \(Self.event)")
    }
    guard claims["nonce"] == nil else { throw Self.refusal("a logout token has no nonce") }
    guard let id = claims["jti"]?.string, (1...Self.idLimit).contains(id.utf8.count) else {
      throw Self.refusal("jti is no text of 1 to \(Self.idLimit) bytes")
    }
    (subject, session) = (try Self.name("sub", claims), try Self.name("sid", claims))
    guard subject != nil || session != nil else { throw Self.refusal("sub and sid are missing") }
    self.issuer = issuer
    self.id = id
    issued = issuedAt
    expires = end + Self.toleranceSeconds
  }

  /// Checks the header's `typ`: `logout+jwt`; from providers that follow an earlier draft, also `JWT` or no `typ`.
  /// - Throws: `.idTokenInvalid` for a token of another kind.
  static func checkType(of text: String) throws(EnrollError) {
    let header = text.utf8.prefix { $0 != 0x2E }
    guard let bytes = Base64URL.decode(Array(header)[...]), let json = try? JSON.parse(bytes) else {
      throw refusal("it is no JWT")
    }
    guard let type = json["typ"] else { return }
    let known = ["logout+jwt", "application/logout+jwt", "JWT"]
    guard let name = type.string, known.contains(where: { ASCII.equalsIgnoringCase($0, name) }) else {
      throw refusal("typ is not logout+jwt")
    }
  }

  private static func time(_ value: JSON?) -> UnixTime? {
    if let seconds = value?.integer { return UnixTime(seconds: seconds) }
    guard case .number(let seconds) = value, seconds.magnitude < 1e15 else { return nil }
    return UnixTime(seconds: Int64(seconds))
  }

  /// The text of a claim; nil if the claim is absent.
  private static func name(_ claim: String, _ claims: JSONObject) throws(EnrollError) -> String? {
    guard let value = claims[claim] else { return nil }
    guard let text = value.string, (1...SignInProvider.subjectLimit).contains(text.utf8.count) else {
      throw refusal("\(claim) is no text of 1 to \(SignInProvider.subjectLimit) bytes")
    }
    return text
  }

  private static func refusal(_ text: String) -> EnrollError {
    EnrollError(.idTokenInvalid, "logout_token refused: \(text)")
  }
}
