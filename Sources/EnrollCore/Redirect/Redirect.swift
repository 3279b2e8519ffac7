// A redirect as it arrived: read, but not believed. What it claims counts only once it is a VerifiedRedirect.
// Refused (R8, RFC 6749 §3.1): a repeated `code`, `state`, `error` or `iss`, a `code` beside an `error`, an empty one.
// A fragment is dropped unread, unknown parameters are ignored.

public import EnrollCrypto
import EnrollJSON

/// The parameters of a redirect, found but not copied until they are asked for.
public struct Redirect: Equatable, Sendable {
  public let url: StrictURL
  private var codeRange: Range<Int>?
  private var stateRange: Range<Int>?
  private var errorRange: Range<Int>?
  private var issuerRange: Range<Int>?
  private var descriptionRange: Range<Int>?
  private var sessionTokenRange: Range<Int>?
  private var lifetimeRange: Range<Int>?
  private var repeatsSessionToken = false

  /// - Throws: `.redirectMalformed`.
  public init(parsing text: String) throws(EnrollError) {
    do throws(StrictURL.Refusal) {
      url = try StrictURL(text)
    } catch {
      throw EnrollError(.redirectMalformed, error.text)
    }
    if var rest = url.query {
      let bytes = url.bytes
      while let parameter = QueryParameter(takenFrom: &rest, of: bytes.span) { try read(parameter, bytes) }
    }
    if codeRange != nil && errorRange != nil {
      throw EnrollError(.redirectMalformed, "code and error came together (R8)")
    }
    for range in [codeRange, errorRange, issuerRange] {
      if let range, range.isEmpty {
        throw EnrollError(.redirectMalformed, "code, error or iss came without a value")
      }
    }
  }

  /// The authorization code; nil when there is none.
  /// - Throws: `.redirectMalformed` when it has bytes that RFC 6749 §A.11 does not allow.
  public func code() throws(EnrollError) -> Secret? {
    guard let code = secret(codeRange) else { return nil }
    guard code.withBytes({ $0.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }) else {
      throw EnrollError(.redirectMalformed, "code must be printable ASCII (RFC 6749 §A.11)")
    }
    return code
  }

  /// The session token that some back ends put into a redirect (flows.md §10); nil when there is none. Looked at only
  /// where that is switched on.
  /// - Throws: `.redirectMalformed` when it came twice, beside a code or an error, or has bytes that no token has.
  func sessionToken() throws(EnrollError) -> Secret? {
    guard let token = secret(sessionTokenRange) else { return nil }
    guard !repeatsSessionToken, !hasCode, !hasError else {
      throw EnrollError(.redirectMalformed, "session_token came twice, or beside code or error (R8)")
    }
    guard token.withBytes({ TokenText.isAcceptable($0) }) else {
      throw EnrollError(.redirectMalformed, "session_token must be visible ASCII of a token's length")
    }
    return token
  }

  /// How long the session token works (R32).
  var sessionLifetimeSeconds: Int64 {
    let text = decoded(lifetimeRange).map { String(decoding: $0, as: UTF8.self) }
    return TokenResponse.lifetimeSeconds(from: text.map { .string($0) })
  }

  var hasSessionToken: Bool { sessionTokenRange != nil }
  var hasCode: Bool { codeRange != nil }
  var hasError: Bool { errorRange != nil }

  /// nil when there is none, or an empty one.
  public var state: Secret? {
    guard let state = secret(stateRange), !state.isEmpty else { return nil }
    return state
  }

  /// `iss` (RFC 9207) as it was claimed; nil when there is none, or one that is not UTF-8.
  public var issuer: String? {
    decoded(issuerRange).flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// `iss` (RFC 9207) against `issuer`, compared as plain strings; nil when there is none.
  func hasIssuer(_ issuer: String) -> Bool? {
    issuerRange.map { PercentEncoding.decodes(url.bytes.span, $0, to: issuer) }
  }

  /// The provider's error code; nil when there is none, or none that RFC 6749 §4.1.2.1 allows.
  public var errorCode: String? {
    decoded(errorRange).flatMap { PrintableText.errorCode(String(decoding: $0, as: UTF8.self)) }
  }

  /// The provider's words for the developer, bounded and printable.
  public var errorDescription: String? {
    decoded(descriptionRange).map {
      PrintableText.bounded(String(decoding: $0, as: UTF8.self), maximumBytes: 200)
    }
  }

  private func secret(_ range: Range<Int>?) -> Secret? {
    guard let range else { return nil }
    if url.bytes[range].contains(where: { $0 == 0x25 || $0 == 0x2B }) {
      return decoded(range).map { Secret($0) }
    }
    return url.bytes[range].withUnsafeBytes { Secret($0) }
  }

  private func decoded(_ range: Range<Int>?) -> [UInt8]? {
    range.flatMap { PercentEncoding.decode(url.bytes[$0], plusForSpace: true) }
  }
}

extension Redirect {
  private mutating func read(_ parameter: QueryParameter, _ bytes: [UInt8]) throws(EnrollError) {
    switch Name(bytes, parameter.name) {
    case .code: try once(&codeRange, parameter, "code")
    case .state: try once(&stateRange, parameter, "state")
    case .error: try once(&errorRange, parameter, "error")
    case .issuer: try once(&issuerRange, parameter, "iss")
    case .description: descriptionRange = descriptionRange ?? parameter.value
    case .sessionToken:
      repeatsSessionToken = sessionTokenRange != nil
      sessionTokenRange = parameter.value
    case .lifetime: lifetimeRange = lifetimeRange ?? parameter.value
    case nil: break
    }
  }

  private func once(
    _ range: inout Range<Int>?, _ parameter: QueryParameter, _ name: StaticString
  ) throws(EnrollError) {
    guard range == nil else { throw EnrollError(.redirectMalformed, "\(name) came twice (R8)") }
    range = parameter.value
  }

  private enum Name {
    case code, state, error, issuer, description, sessionToken, lifetime

    /// The escapes in a name are read too, so that `c%6Fde` is a second `code`.
    init?(_ bytes: [UInt8], _ name: Range<Int>) {
      if bytes[name].contains(0x25) {
        guard let decoded = PercentEncoding.decode(bytes[name], plusForSpace: true), !decoded.contains(0x25)
        else { return nil }
        self.init(decoded, 0..<decoded.count)
        return
      }
      let bytes = bytes.span
      switch name.count {
      case 3 where ASCII.equals(bytes, name, "iss"): self = .issuer
      case 4 where ASCII.equals(bytes, name, "code"): self = .code
      case 5 where ASCII.equals(bytes, name, "state"): self = .state
      case 5 where ASCII.equals(bytes, name, "error"): self = .error
      case 10 where ASCII.equals(bytes, name, "expires_in"): self = .lifetime
      case 13 where ASCII.equals(bytes, name, "session_token"): self = .sessionToken
      case 17 where ASCII.equals(bytes, name, "error_description"): self = .description
      default: return nil
      }
    }
  }
}
