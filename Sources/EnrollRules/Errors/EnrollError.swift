// The only error type of all interfaces. A code is a stable number in C, and a row of one table (EnrollErrorTable).
// Texts say what was expected and what was received, and never contain a secret (R40).

package import EnrollCrypto
package import EnrollJSON

/// Why a call failed. Its size is one reference, because every throwing function passes it on.
public struct EnrollError: Error, Sendable {
  private let details: Details

  /// - Parameters:
  ///   - code: the reason.
  ///   - message: what was expected and what was received; never a secret.
  ///   - field: the configuration key or parameter at fault.
  ///   - httpStatus: the status of the response that caused the error.
  ///   - oauthError: the provider's own error code.
  ///   - oauthErrorDescription: the provider's `error_description`.
  ///   - retryAfterSeconds: how long the server asked the client to wait.
  @inline(never)
  public init(
    _ code: Code, _ message: String, field: String? = nil, httpStatus: Int? = nil,
    oauthError: String? = nil, oauthErrorDescription: String? = nil, retryAfterSeconds: Int64? = nil
  ) {
    details = Details(
      code: code, message: message, field: field, httpStatus: httpStatus, oauthError: oauthError,
      oauthErrorDescription: oauthErrorDescription, retryAfterSeconds: retryAfterSeconds,
      hasEndedAttempt: false, isUnsent: false, remedy: nil)
  }

  /// An error with only a message: most callers need no more, and the compiled call is smaller.
  @inline(never)
  public init(_ code: Code, _ message: String) {
    self.init(code, message, field: nil, httpStatus: nil, oauthError: nil)
  }

  /// An error with a message and the field at fault.
  @inline(never)
  public init(_ code: Code, _ message: String, field: String?) {
    self.init(code, message, field: field, httpStatus: nil, oauthError: nil)
  }

  private init(_ details: Details) { self.details = details }

  /// The reason, from a closed set.
  public var code: Code { details.code }
  /// What happened and what was expected, for a developer's log. Never contains a secret.
  public var message: String { details.message }
  /// The configuration key or parameter at fault, if there is one.
  public var field: String? { details.field }
  /// The status of the HTTP response that caused the failure.
  public var httpStatus: Int? { details.httpStatus }
  /// The provider's own error code (`RFC 6749 §5.2`), bounded and printable.
  public var oauthError: String? { details.oauthError }
  /// The provider's `error_description` (`RFC 6749 §5.2`), for a developer: printable ASCII, at most
  /// ``maximumDescriptionBytes``. nil if the provider sent no description, or if the description may repeat a secret
  /// that was sent.
  public var oauthErrorDescription: String? { details.oauthErrorDescription }
  /// How long the server asked the client to wait.
  public var retryAfterSeconds: Int64? { details.retryAfterSeconds }

  /// Whether the error ended a sign-in. Then a remedy for another call to the same server does not help that sign-in.
  package var hasEndedAttempt: Bool { details.hasEndedAttempt }

  /// Whether no part of the request left this machine, so that a code or another value in it is not spent. A transport
  /// marks such an error with ``unsent()``.
  public var isUnsent: Bool { details.isUnsent }

  /// This error for a request that was not sent, because there is no network or no connection. A sign-in
  /// stays open, because its code was not used.
  public func unsent() -> EnrollError { copy(isUnsent: true) }

  /// This error without the mark of ``unsent()``, for a request that uses up no code or token.
  package func withoutUnsent() -> EnrollError { isUnsent ? copy(isUnsent: false) : self }

  /// The remedy, if the state E `renewalFailed` has one. It is stored separately, because the same error may end a
  /// session in one case and not concern the session in another.
  package var remedy: Remedy? { details.remedy }

  /// This error with the remedy that the state E `renewalFailed` shows.
  package func helped(by remedy: Remedy) -> EnrollError { copy(remedy: remedy) }

  /// This error with the number of seconds until the next attempt.
  package func retrying(after seconds: Int64) -> EnrollError { copy(retryAfterSeconds: seconds) }

  /// This error with another message.
  package func saying(_ message: String) -> EnrollError { copy(message: message) }

  /// An error with another code and message for the same response: it keeps the provider's error code and
  /// description.
  package func leading(to code: Code, _ message: String, field: String? = nil) -> EnrollError {
    EnrollError(
      code, message, field: field, httpStatus: httpStatus, oauthError: oauthError,
      oauthErrorDescription: oauthErrorDescription, retryAfterSeconds: retryAfterSeconds)
  }

  /// The longest ``oauthErrorDescription`` in bytes; three dots follow a description that was cut.
  public static let maximumDescriptionBytes = 512

  /// This error for a client that EnrollKit registered, with the remedy to register again.
  package func askingForRegistration() -> EnrollError {
    copy(
      message: message
        + "; the provider does not take the client any more that EnrollKit registered there. Register again (resource.register"
        + " with again), then sign in",
      field: Self.registrationField)
  }

  /// The field of an error for which registering again helps: the parameter of `resource.register`.
  public static let registrationField = "again"

  /// The field of an error about the HTTP of this machine, such as a missing libcurl: the parameter with which a host
  /// supplies its own transport.
  package static let transportField = "transport"

  /// This error as a warning: the authorization request could not be pushed, so the sign-in sends it through
  /// the browser.
  package func goingThroughBrowser() -> EnrollError {
    copy(
      message: "\(message). The authorization request goes through the browser instead",
      field: Self.pushField)
  }

  /// The field of a warning that a request could not be pushed: the name of a configuration key.
  public static let pushField = "pushedRequests"

  /// The field of an error about a transaction, or about the number of pending transactions.
  public static let transactionField = "transaction"

  /// The field of an error about tokens that wait for the user's confirmation.
  public static let confirmationField = "confirmation"

  /// The field of an error about a missing file without which the store's keys cannot be read. Then there is nothing
  /// that the user could unlock.
  public static let keyFileField = "keyFile"

  /// The field of an error about a passphrase that is not the store's.
  public static let passphraseField = "passphrase"

  /// The field of an error about the file of the trusted certificate authorities: the name of a configuration key.
  public static let certificateFileField = "caFile"

  /// This error as the end of a sign-in. The code is spent, so a retry cannot succeed; the user must start
  /// again.
  package func endingAttempt() -> EnrollError {
    guard isRetryable else { return self }
    return copy(message: message + ". The attempt has ended. Begin the sign-in again.", hasEndedAttempt: true)
  }

  /// This error with the two facts that a child process reported about it.
  package func knowing(
    hasEndedAttempt: Bool, remedy: Remedy?
  ) -> EnrollError {
    copy(hasEndedAttempt: hasEndedAttempt, remedy: remedy)
  }

  private func copy(
    message: String? = nil, field: String? = nil, retryAfterSeconds: Int64? = nil,
    hasEndedAttempt: Bool? = nil, isUnsent: Bool? = nil,
    remedy: Remedy? = nil
  ) -> EnrollError {
    EnrollError(
      Details(
        code: code, message: message ?? self.message, field: field ?? self.field, httpStatus: httpStatus,
        oauthError: oauthError, oauthErrorDescription: oauthErrorDescription,
        retryAfterSeconds: retryAfterSeconds ?? self.retryAfterSeconds,
        hasEndedAttempt: hasEndedAttempt ?? self.hasEndedAttempt, isUnsent: isUnsent ?? self.isUnsent,
        remedy: remedy ?? self.remedy))
  }

  /// Who can correct the cause of an error, so that a host knows whom to inform.
  public enum Blame: String, Sendable, CaseIterable {
    /// The calling code: an argument, or the order of calls.
    case caller
    /// The app or the device, such as its configuration or its disk.
    case host
    /// The user.
    case user
    /// The provider, or a server that responded in its place.
    case server
    /// The network between this device and the provider.
    case network
    /// This library.
    case `internal`
  }

  /// Who can correct the cause of the error.
  public var blame: Blame { code.row.blame }
  /// Whether the same call may succeed later without any other action. Never true for an error that ended a sign-in:
  /// the user has to start again.
  public var isRetryable: Bool { code.row.retryable && !hasEndedAttempt }
}

extension EnrollError: CustomStringConvertible {
  /// `storeFull: no space is left …`
  public var description: String { code.name + ": " + message }
}

extension EnrollError: Equatable {
  /// Errors that differ only in ``isUnsent`` are equal.
  public static func == (left: EnrollError, right: EnrollError) -> Bool {
    left.details === right.details
      || left.code == right.code && left.message == right.message && left.field == right.field
        && left.httpStatus == right.httpStatus && left.oauthError == right.oauthError
        && left.oauthErrorDescription == right.oauthErrorDescription
        && left.retryAfterSeconds == right.retryAfterSeconds
        && left.hasEndedAttempt == right.hasEndedAttempt && left.remedy == right.remedy
  }

  fileprivate final class Details: Sendable {
    let code: Code
    let message: String
    let field: String?
    let httpStatus: Int?
    let oauthError: String?
    let oauthErrorDescription: String?
    let retryAfterSeconds: Int64?
    let hasEndedAttempt: Bool
    let isUnsent: Bool
    let remedy: Remedy?

    init(
      code: Code, message: String, field: String?, httpStatus: Int?, oauthError: String?,
      oauthErrorDescription: String?, retryAfterSeconds: Int64?, hasEndedAttempt: Bool, isUnsent: Bool,
      remedy: Remedy?
    ) {
      self.code = code
      self.message = message
      self.field = field
      self.httpStatus = httpStatus
      self.oauthError = oauthError
      self.oauthErrorDescription = oauthErrorDescription
      self.retryAfterSeconds = retryAfterSeconds
      self.hasEndedAttempt = hasEndedAttempt
      self.isUnsent = isUnsent
      self.remedy = remedy
    }
  }
}

extension EnrollError {
  /// The error after a failure of OpenSSL: `.unsupported` on a machine without OpenSSL, `.outOfMemory` without memory,
  /// or `.internal` for every other failure, because no other failure is expected.
  /// - Parameter context: the operation that failed; it precedes OpenSSL's message.
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

  /// The error for a text that is not valid JSON.
  /// - Parameter code: the code of the error; `.outOfMemory` replaces it if only memory was missing.
  package init(
    _ code: Code, _ message: String, _ cause: JSONError, field: String? = nil, httpStatus: Int? = nil
  ) {
    self.init(
      cause.isOutOfMemory ? .outOfMemory : code, message + cause.message, field: field, httpStatus: httpStatus
    )
  }
}
