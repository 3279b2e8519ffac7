// The one error type of all three faces. A code is its stable number in C, and a row of one table (EnrollErrorTable).
// Texts say what was expected and what came, never a secret (R40).

package import EnrollCrypto
package import EnrollJSON

/// Why a call failed. One reference in size: it is passed along by every function that can throw.
public struct EnrollError: Error, Sendable {
  private let details: Details

  /// - Parameters:
  ///   - code: the reason.
  ///   - message: what was expected and what came; never a secret.
  ///   - field: the configuration key or parameter at fault.
  ///   - httpStatus: of the response that caused it.
  ///   - oauthError: the provider's own error code.
  ///   - retryAfterSeconds: how long the server asked us to wait.
  @inline(never)
  public init(
    _ code: Code, _ message: String, field: String? = nil, httpStatus: Int? = nil,
    oauthError: String? = nil, retryAfterSeconds: Int64? = nil
  ) {
    details = Details(
      code: code, message: message, field: field, httpStatus: httpStatus, oauthError: oauthError,
      retryAfterSeconds: retryAfterSeconds, hasEndedAttempt: false, isUnsent: false, remedy: nil)
  }

  /// The same with nothing beside the message, as at most places: a call of three words.
  @inline(never)
  public init(_ code: Code, _ message: String) {
    self.init(code, message, field: nil, httpStatus: nil, oauthError: nil, retryAfterSeconds: nil)
  }

  /// The same with the field at fault and nothing else.
  @inline(never)
  public init(_ code: Code, _ message: String, field: String?) {
    self.init(code, message, field: field, httpStatus: nil, oauthError: nil, retryAfterSeconds: nil)
  }

  private init(_ details: Details) { self.details = details }

  /// The reason, out of a closed set.
  public var code: Code { details.code }
  /// What happened and what was expected, for a developer's log. Never holds a secret.
  public var message: String { details.message }
  /// The configuration key or parameter at fault, where one is.
  public var field: String? { details.field }
  /// The status of the HTTP response that caused the failure.
  public var httpStatus: Int? { details.httpStatus }
  /// The provider's own error code (`RFC 6749 §5.2`), bounded and printable.
  public var oauthError: String? { details.oauthError }
  /// How long the server asked the client to wait.
  public var retryAfterSeconds: Int64? { details.retryAfterSeconds }

  /// It ended an attempt to sign in: what may help another call to the same server does not help this one.
  package var hasEndedAttempt: Bool { details.hasEndedAttempt }

  /// Nothing of the request left this machine: what it was to spend, a code say, is not spent. A transport says so with
  /// ``unsent()``.
  public var isUnsent: Bool { details.isUnsent }

  /// The same about a request of which nothing left this machine: there is no network, or no connection was made. A sign-in whose
  /// code was to be sent goes on waiting.
  public func unsent() -> EnrollError { copy(isUnsent: true) }

  /// The same of a request that spends nothing.
  func withoutUnsent() -> EnrollError { isUnsent ? copy(isUnsent: false) : self }

  /// The remedy, if the state E names one: the same error may end a session or say nothing about it.
  package var remedy: RegistrationState.RenewalFailure.Remedy? { details.remedy }

  /// The same, with what the state E says helps.
  func helped(by remedy: RegistrationState.RenewalFailure.Remedy) -> EnrollError { copy(remedy: remedy) }

  /// The same, to be tried again in `seconds`.
  func retrying(after seconds: Int64) -> EnrollError { copy(retryAfterSeconds: seconds) }

  /// The same in other words.
  func saying(_ message: String) -> EnrollError { copy(message: message) }

  /// The same about a client that EnrollKit registered, with what helps.
  func askingForRegistration() -> EnrollError {
    copy(
      message: message
        + "; the provider does not take the client any more that EnrollKit registered there. Register again (resource.register"
        + " with again), then sign in",
      field: Self.registrationField)
  }

  /// The field of an error that another registration helps against: the parameter of `resource.register`.
  public static let registrationField = "again"

  /// The field of an error about a transaction, or about how many of them are pending.
  public static let transactionField = "transaction"

  /// The same as the end of an attempt: its code is spent, so that the call cannot succeed later. The user begins again.
  func endingAttempt() -> EnrollError {
    guard isRetryable else { return self }
    return copy(message: message + ". The attempt has ended. Begin the sign-in again.", hasEndedAttempt: true)
  }

  /// The same, as another process of this program knows it.
  package func knowing(
    hasEndedAttempt: Bool, remedy: RegistrationState.RenewalFailure.Remedy?
  ) -> EnrollError {
    copy(hasEndedAttempt: hasEndedAttempt, remedy: remedy)
  }

  private func copy(
    message: String? = nil, field: String? = nil, retryAfterSeconds: Int64? = nil,
    hasEndedAttempt: Bool? = nil, isUnsent: Bool? = nil,
    remedy: RegistrationState.RenewalFailure.Remedy? = nil
  ) -> EnrollError {
    EnrollError(
      Details(
        code: code, message: message ?? self.message, field: field ?? self.field, httpStatus: httpStatus,
        oauthError: oauthError, retryAfterSeconds: retryAfterSeconds ?? self.retryAfterSeconds,
        hasEndedAttempt: hasEndedAttempt ?? self.hasEndedAttempt, isUnsent: isUnsent ?? self.isUnsent,
        remedy: remedy ?? self.remedy))
  }

  /// Whose fault it is, so that a host knows whom to tell.
  public enum Blame: String, Sendable, CaseIterable {
    /// The code that called: an argument, an order of calls.
    case caller
    /// The app or the device: its configuration, its disk.
    case host
    /// The user, who can do something about it.
    case user
    /// The provider, or whoever answered in its place.
    case server
    /// The way to the provider.
    case network
    /// This library.
    case `internal`
  }

  /// Whose fault it is.
  public var blame: Blame { code.row.blame }
  /// Whether the same call may succeed later without anything else being done. Never true of an error that ended an
  /// attempt to sign in: begin again.
  public var isRetryable: Bool { code.row.retryable && !hasEndedAttempt }
}

extension EnrollError: CustomStringConvertible {
  /// `storeFull: no space is left …`
  public var description: String { code.name + ": " + message }
}

extension EnrollError: Equatable {
  /// Whether anything was sent makes no other error.
  public static func == (left: EnrollError, right: EnrollError) -> Bool {
    left.details === right.details
      || left.code == right.code && left.message == right.message && left.field == right.field
        && left.httpStatus == right.httpStatus && left.oauthError == right.oauthError
        && left.retryAfterSeconds == right.retryAfterSeconds
        && left.hasEndedAttempt == right.hasEndedAttempt && left.remedy == right.remedy
  }

  fileprivate final class Details: Sendable {
    let code: Code
    let message: String
    let field: String?
    let httpStatus: Int?
    let oauthError: String?
    let retryAfterSeconds: Int64?
    let hasEndedAttempt: Bool
    let isUnsent: Bool
    let remedy: RegistrationState.RenewalFailure.Remedy?

    init(
      code: Code, message: String, field: String?, httpStatus: Int?, oauthError: String?,
      retryAfterSeconds: Int64?, hasEndedAttempt: Bool, isUnsent: Bool,
      remedy: RegistrationState.RenewalFailure.Remedy?
    ) {
      self.code = code
      self.message = message
      self.field = field
      self.httpStatus = httpStatus
      self.oauthError = oauthError
      self.retryAfterSeconds = retryAfterSeconds
      self.hasEndedAttempt = hasEndedAttempt
      self.isUnsent = isUnsent
      self.remedy = remedy
    }
  }
}

extension EnrollError {
  /// `.unsupported` on a machine without OpenSSL, else `.internal`: what must not fail.
  /// - Parameter context: what could not be done for it, in front of its own words.
  package init(_ error: CryptoError, _ context: String? = nil) {
    let message = context.map { "\($0): \(error.message)" } ?? error.message
    let code: Code =
      switch error.reason {
      case .missing: .unsupported
      case .memory: .outOfMemory
      case .authentication, .key, .argument, .library: .internal
      }
    self.init(code, message)
  }

  /// The error for a text that is not acceptable JSON.
  /// - Parameter code: `.outOfMemory` takes its place where that was all.
  package init(
    _ code: Code, _ message: String, _ cause: JSONError, field: String? = nil, httpStatus: Int? = nil
  ) {
    self.init(
      cause.isOutOfMemory ? .outOfMemory : code, message + cause.message, field: field, httpStatus: httpStatus
    )
  }
}
