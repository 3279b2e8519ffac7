// The claims of an id_token (OpenID Connect Core §2), not verified yet. A token is refused here if a claim that every
// id_token needs is missing or has a wrong type; the rules decide which values are valid. An optional claim of a wrong
// type counts as missing, and a rule that needs the claim reports it as missing.

import EnrollCrypto
import EnrollJSON

package struct IDTokenClaims: Sendable {
  /// The longest `sub` in bytes (OpenID Connect Core §2).
  static let subjectLimit = 255

  let issuer: Issuer
  /// `tid`, from a provider whose issuers have tenants; nil if it is absent or not a string.
  let tenant: String?
  let subject: String
  /// The audiences, at least one.
  let audience: [String]
  let authorizedParty: String?
  let expiresAt: UnixTime
  let issuedAt: UnixTime
  let notBefore: UnixTime?
  /// `auth_time`; nil if it is absent or has a wrong type. The same is true of ``nonce`` and ``authenticationClass``.
  let authTime: UnixTime?
  let nonce: Secret?
  let authenticationClass: String?
  let accessTokenHash: String?
  let all: JSONObject

  /// - Throws: `.idTokenInvalid`.
  init(_ payload: [UInt8]) throws(EnrollError) {
    let json: JSON
    do throws(JSONError) { json = try JSON.parse(payload) } catch {
      throw EnrollError(.idTokenInvalid, "id_token refused: the claims are not JSON: ", error)
    }
    guard let all = json.object else { throw Self.refusal("the claims are not an object") }
    self.all = all
    issuer = Issuer(try Self.present(Self.text(all, "iss"), "iss"))
    tenant = all["tid"]?.string
    audience = try Self.audience(all)
    authorizedParty = try Self.text(all, "azp")
    subject = try Self.present(Self.text(all, "sub"), "sub")
    guard (1...Self.subjectLimit).contains(subject.utf8.count) else {
      throw Self.refusal("sub has \(subject.utf8.count) bytes, not 1 to \(Self.subjectLimit)")
    }
    expiresAt = try Self.present(Self.time(all, "exp"), "exp")
    issuedAt = try Self.present(Self.time(all, "iat"), "iat")
    notBefore = try Self.time(all, "nbf")
    authTime = try? Self.time(all, "auth_time")
    nonce = all["nonce"]?.string.map { Secret($0) }
    authenticationClass = all["acr"]?.string
    accessTokenHash = try Self.text(all, "at_hash")
  }

  package static func refusal(_ message: String) -> EnrollError {
    EnrollError(.idTokenInvalid, "id_token refused: \(message)")
  }

  /// Why a requested claim is missing, for an error text.
  func absence(of name: String) -> String {
    guard let value = all[name], !value.isNull else { return "missing" }
    return "not of its type: \(value.kind)"
  }

  private static func present<Value>(
    _ value: Value?, _ name: String
  ) throws(EnrollError) -> Value {
    guard let value else { throw refusal("\(name) is missing") }
    return value
  }

  private static func text(_ all: JSONObject, _ name: String) throws(EnrollError) -> String? {
    guard let value = all[name], !value.isNull else { return nil }
    guard let text = value.string else { throw refusal("\(name) is not a string: \(value.kind)") }
    return text
  }

  /// The audiences from `aud`, which is a string or an array of strings (RFC 7519 §4.1.3).
  private static func audience(_ all: JSONObject) throws(EnrollError) -> [String] {
    guard let value = all["aud"] else { throw refusal("aud is missing") }
    if let one = value.string { return [one] }
    guard let several = value.array else {
      throw refusal("aud is not a string or an array: \(value.kind)")
    }
    let texts = several.compactMap { $0.string }
    guard texts.count == several.count else {
      throw refusal("aud has an element that is not a string")
    }
    guard !texts.isEmpty else { throw refusal("aud is empty") }
    return texts
  }

  /// Reads a NumericDate (RFC 7519 §2): seconds, possibly with a fraction, which is dropped (Canaille sends a
  /// fraction).
  private static func time(_ all: JSONObject, _ name: String) throws(EnrollError) -> UnixTime? {
    switch all[name] {
    case nil, .null: return nil
    case .integer(let seconds): return UnixTime(seconds: seconds)
    case .number(let seconds): return UnixTime(seconds: whole(seconds))
    case .some(let value): throw refusal("\(name) is not a number: \(value.kind)")
    }
  }

  /// The number of seconds, rounded down and limited to 64 bits: an absurd date becomes a distant date, and causes no
  /// crash.
  private static func whole(_ seconds: Double) -> Int64 {
    if seconds >= 0x1p63 { return .max }
    if seconds <= -0x1p63 { return .min }
    let whole = Int64(seconds)
    return Double(whole) > seconds ? whole - 1 : whole
  }
}
