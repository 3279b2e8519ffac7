// A redirect as it was received: parsed, but not verified. Its values may be used only after it has become a
// VerifiedRedirect. Refused (R8, RFC 6749 §3.1): a repeated `code`, `state`, `error` or `iss`; a `code` together with
// an `error`; an empty `code`, `error` or `iss`. A fragment is dropped unread, and unknown parameters are ignored.

public import EnrollCrypto
import EnrollJSON

/// The parameters of a redirect. Only the positions of their values are stored; a value is copied when it is read.
public struct Redirect: Equatable, Sendable {
  public let url: StrictURL
  private var codeValue: Value?
  private var stateValue: Value?
  private var errorValue: Value?
  private var issuerValue: Value?
  private var descriptionValue: Value?
  private var sessionTokenValue: Value?
  private var lifetimeValue: Value?
  private var repeatsSessionToken = false
  private var repeatsDescription = false

  /// The place of a parameter's value in the URL. The type is small, because a redirect is copied when it is passed on.
  /// 16 bits are enough for every offset in a URL (``StrictURL/maximumBytes``).
  private struct Value: Equatable {
    private var start: UInt16
    private var end: UInt16
    /// Whether the value contains escapes, so that it must be decoded.
    let isEncoded: Bool

    init(_ parameter: QueryParameter) {
      start = UInt16(parameter.value.lowerBound)
      end = UInt16(parameter.value.upperBound)
      isEncoded = parameter.isEncoded
    }

    var range: Range<Int> { Int(start)..<Int(end) }
    var isEmpty: Bool { start == end }
  }

  /// - Parameter configured: the configured redirect URI. Its scheme is accepted even if it has no dot (R2).
  /// - Throws: `.redirectMalformed`.
  @_optimize(speed)
  public init(parsing text: String, configured: String? = nil) throws(EnrollError) {
    do throws(StrictURL.Refusal) {
      url = try StrictURL(text, configured: configured)
    } catch {
      throw EnrollError(.redirectMalformed, error.text)
    }
    if var rest = url.query {
      let bytes = url.bytes
      let span = bytes.span
      while let parameter = QueryParameter(takenFrom: &rest, of: span) { try read(parameter, span) }
    }
    if codeValue != nil && errorValue != nil {
      throw EnrollError(.redirectMalformed, "the URL has both code and error")
    }
    guard codeValue?.isEmpty != true, errorValue?.isEmpty != true, issuerValue?.isEmpty != true else {
      throw EnrollError(.redirectMalformed, "code, error or iss has no value")
    }
  }

  /// The authorization code; nil if there is none.
  /// - Throws: `.redirectMalformed` if the code has bytes that RFC 6749 §A.11 does not allow.
  public func code() throws(EnrollError) -> Secret? {
    guard let codeValue, let code = secret(codeValue) else { return nil }
    // A code without escapes is visible ASCII, because it is part of a URL.
    guard !codeValue.isEncoded || code.withBytes({ $0.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }) else {
      throw EnrollError(.redirectMalformed, "code must be printable ASCII (RFC 6749 §A.11)")
    }
    return code
  }

  /// The session token that some back ends put into a redirect (flows.md §10); nil if there is none. It is read only if
  /// the configuration allows it.
  /// - Throws: `.redirectMalformed` if the token is repeated, comes together with a code or an error, or has bytes that
  ///   no token can have.
  func sessionToken() throws(EnrollError) -> Secret? {
    guard let token = secret(sessionTokenValue) else { return nil }
    guard !repeatsSessionToken, !hasCode, !hasError else {
      throw EnrollError(
        .redirectMalformed, "session_token appears twice, or together with code or error")
    }
    guard token.withBytes({ TokenText.isAcceptable($0) }) else {
      throw EnrollError(.redirectMalformed, "session_token must be visible ASCII of a token's length")
    }
    return token
  }

  /// The lifetime of the session token (R32).
  var sessionLifetimeSeconds: Int64 {
    let text = decoded(lifetimeValue).map { String(decoding: $0, as: UTF8.self) }
    return TokenResponse.lifetimeSeconds(from: text.map { .string($0) })
  }

  var hasSessionToken: Bool { sessionTokenValue != nil }
  package var hasCode: Bool { codeValue != nil }
  var hasError: Bool { errorValue != nil }

  /// The parameter `state`; nil if there is none, or it is empty.
  public var state: Secret? {
    guard let state = secret(stateValue), !state.isEmpty else { return nil }
    return state
  }

  /// Whether the redirect has this state, compared in constant time and without a copy of either state.
  func hasState(_ state: Secret) -> Bool {
    guard let stateValue else { return false }
    if stateValue.isEncoded { return self.state == state }
    return url.bytes.withUnsafeBytes { bytes in
      ConstantTime.equal(UnsafeRawBufferPointer(rebasing: bytes[stateValue.range]), state.unsafeBytes)
    }
  }

  var hasState: Bool { stateValue?.isEmpty == false }

  /// `iss` (RFC 9207), not verified; nil if there is no `iss`, or if it is not UTF-8.
  public var issuer: Issuer? {
    decoded(issuerValue).flatMap { String(validating: $0, as: UTF8.self) }.map { Issuer($0) }
  }

  /// Whether `iss` (RFC 9207) is `issuer`, compared as plain strings; nil if there is no `iss`.
  func hasIssuer(_ issuer: Issuer) -> Bool? {
    guard let issuerValue else { return nil }
    return PercentEncoding.decodes(url.bytes.span, issuerValue.range, to: issuer.text)
  }

  /// The provider's error code; nil if there is no error code, or if RFC 6749 §4.1.2.1 does not allow the code.
  public var errorCode: String? {
    decoded(errorValue).flatMap { PrintableText.errorCode(String(decoding: $0, as: UTF8.self)) }
  }

  /// The provider's `error_description`, bounded and printable; nil if the parameter is repeated: some providers send
  /// one `error_description` for each character, so no single value is the description.
  public var errorDescription: String? {
    guard !repeatsDescription else { return nil }
    return decoded(descriptionValue).map {
      PrintableText.bounded(
        String(decoding: $0, as: UTF8.self), maximumBytes: EnrollError.maximumDescriptionBytes)
    }
  }

  private func secret(_ value: Value?) -> Secret? {
    guard let value else { return nil }
    if value.isEncoded { return decoded(value).map { Secret($0) } }
    return url.bytes.withUnsafeBytes { Secret(UnsafeRawBufferPointer(rebasing: $0[value.range])) }
  }

  private func decoded(_ value: Value?) -> [UInt8]? {
    value.flatMap { PercentEncoding.decode(url.bytes[$0.range], plusForSpace: true) }
  }
}

extension Redirect {
  @_optimize(speed)
  private mutating func read(_ parameter: QueryParameter, _ bytes: Span<UInt8>) throws(EnrollError) {
    switch Name(bytes, parameter.name) {
    case .code: try Redirect.once(&codeValue, parameter, "code")
    case .state: try Redirect.once(&stateValue, parameter, "state")
    case .error: try Redirect.once(&errorValue, parameter, "error")
    case .issuer: try Redirect.once(&issuerValue, parameter, "iss")
    case .description:
      repeatsDescription = descriptionValue != nil
      descriptionValue = Value(parameter)
    case .sessionToken:
      repeatsSessionToken = sessionTokenValue != nil
      sessionTokenValue = Value(parameter)
    case .lifetime: lifetimeValue = lifetimeValue ?? Value(parameter)
    case nil: break
    }
  }

  /// Stores the place of a parameter's value, and refuses a second parameter of the same name. This function is static,
  /// because a method would copy the whole redirect to change a part of it.
  private static func once(
    _ value: inout Value?, _ parameter: QueryParameter, _ name: StaticString
  ) throws(EnrollError) {
    guard value == nil else { throw EnrollError(.redirectMalformed, "\(name) appears twice") }
    value = Value(parameter)
  }

  private enum Name {
    case code, state, error, issuer, description, sessionToken, lifetime

    /// Escapes in a parameter's name are decoded, too, so that `c%6Fde` counts as `code` (and as a repeated `code` if
    /// there are both).
    init?(_ bytes: Span<UInt8>, _ name: Range<Int>) {
      guard ASCII.contains(bytes, name, 0x25) else {
        self.init(plain: bytes, name)
        return
      }
      let text = bytes.extracting(name).withUnsafeBufferPointer { Array($0) }
      guard let decoded = PercentEncoding.decode(text[...], plusForSpace: true) else { return nil }
      self.init(plain: decoded.span, 0..<decoded.count)
    }

    @_optimize(speed)
    private init?(plain bytes: Span<UInt8>, _ name: Range<Int>) {
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
