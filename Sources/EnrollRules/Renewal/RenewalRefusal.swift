// A refusal of a refresh token that does not end the session: the values that are stored, and the error that
// callers get.

/// A 4xx response, other than `invalid_grant`, to a refresh token (reliability.md, What the answer to a refresh token
/// means).
public struct RenewalRefusal: Equatable, Sendable {
  /// The pause in which no renewal is sent. The same refusal after the pause ends the session.
  public var pause: Expiry
  /// The status of the response, 400 to 499.
  public var httpStatus: Int
  /// The server's error code; nil if it sent no code.
  public var oauthError: String?
  /// The server's `error_description`.
  public var oauthErrorDescription: String?
  /// Whether the server refused in the same way before, 60 s or more earlier.
  public var isRepeated: Bool
  /// When the server began to refuse in this way, by the device's clock; nil in a record of an earlier version.
  public var began: UnixTime?

  public init(
    pause: Expiry, httpStatus: Int, oauthError: String?, oauthErrorDescription: String? = nil,
    isRepeated: Bool = false, began: UnixTime? = nil
  ) {
    self.pause = pause
    self.httpStatus = httpStatus
    self.oauthError = oauthError
    self.oauthErrorDescription = oauthErrorDescription
    self.isRepeated = isRepeated
    self.began = began
  }
}

extension RenewalRefusal {
  /// A time that is longer than any session: ten years.
  package static let restOfSessionSeconds: Int64 = 10 * 365 * 86_400

  package func error(at moment: Moment) -> EnrollError {
    guard pause.lifetimeSeconds < Self.restOfSessionSeconds else {
      return EnrollError(
        .rejected,
        "the provider refused it in this session, so it is not asked again; name the resource in resources, then sign in again",
        field: "resource", httpStatus: httpStatus, oauthError: oauthError,
        oauthErrorDescription: oauthErrorDescription)
    }
    let words = [oauthError, oauthErrorDescription].compactMap { $0 }.joined(separator: ": ")
    return EnrollError(
      .rejected, "the provider refused to renew a moment ago\(words.isEmpty ? "" : ": " + words)",
      httpStatus: httpStatus, oauthError: oauthError, oauthErrorDescription: oauthErrorDescription,
      retryAfterSeconds: max(1, pause.secondsLeft(at: moment)))
  }

  package func isSame(as other: RenewalRefusal) -> Bool {
    httpStatus == other.httpStatus && oauthError == other.oauthError
  }
}
