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
  public init(
    _ code: Code, _ message: String, field: String? = nil, httpStatus: Int? = nil,
    oauthError: String? = nil, retryAfterSeconds: Int64? = nil
  ) {
    details = Details(
      code: code, message: message, field: field, httpStatus: httpStatus, oauthError: oauthError,
      retryAfterSeconds: retryAfterSeconds, hasEndedAttempt: false)
  }

  private init(_ details: Details) { self.details = details }

  /// The reason, out of a closed set.
  public var code: Code { details.code }
  /// What was expected and what came, for a developer's log. Never holds a secret.
  public var message: String { details.message }
  /// The configuration key or parameter at fault, where one is.
  public var field: String? { details.field }
  /// The status of the HTTP response that caused it.
  public var httpStatus: Int? { details.httpStatus }
  /// The provider's own error code (`RFC 6749 §5.2`), bounded and printable.
  public var oauthError: String? { details.oauthError }
  /// How long the server asked us to wait.
  public var retryAfterSeconds: Int64? { details.retryAfterSeconds }

  /// It ended an attempt to sign in: what may help another call to the same server does not help this one.
  var hasEndedAttempt: Bool { details.hasEndedAttempt }

  /// The same, to be tried again in `seconds`.
  func retrying(after seconds: Int64) -> EnrollError { copy(retryAfterSeconds: seconds) }

  /// The same in other words.
  func saying(_ message: String) -> EnrollError { copy(message: message) }

  /// The same as the end of an attempt: its code is spent, so that the call cannot succeed later. The user begins again.
  func endingAttempt() -> EnrollError {
    guard isRetryable else { return self }
    return copy(message: message + ". The attempt has ended. Begin the sign-in again.", hasEndedAttempt: true)
  }

  private func copy(
    message: String? = nil, retryAfterSeconds: Int64? = nil, hasEndedAttempt: Bool? = nil
  ) -> EnrollError {
    EnrollError(
      Details(
        code: code, message: message ?? self.message, field: field, httpStatus: httpStatus,
        oauthError: oauthError, retryAfterSeconds: retryAfterSeconds ?? self.retryAfterSeconds,
        hasEndedAttempt: hasEndedAttempt ?? self.hasEndedAttempt))
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

  /// The closed set of reasons. The raw value is the C status; numbers are never reused.
  public enum Code: Int32, Sendable, CaseIterable {
    /// An argument is missing, of the wrong type or out of range.
    case invalidArgument = -1
    /// The handle is null, stale or already freed.
    case handle = -2
    /// A host callback called back into the library.
    case reentrant = -3
    /// The process forked after the client was made; open a new one in the child.
    case forked = -4
    /// The caller's buffer is too small; the needed size was reported.
    case bufferTooSmall = -5
    /// The call was cancelled.
    case cancelled = -6
    /// The caller's deadline passed first.
    case deadlineExceeded = -7
    /// Too much is going on at once; ask again.
    case busy = -8
    /// This build, this machine or this provider cannot do that.
    case unsupported = -9
    /// The registration is in a state in which that is not possible.
    case illegalState = -10
    /// No such command, account or transaction.
    case notFound = -11
    /// Memory could not be had.
    case outOfMemory = -12
    /// The configuration is not acceptable; the field is named.
    case configuration = -20
    /// The URL is not one that a provider may redirect to.
    case redirectMalformed = -21
    /// The URL is not the redirect URI of its transaction.
    case redirectMismatch = -22
    /// No pending transaction asked for this URL.
    case unsolicited = -23
    /// The transaction was settled before.
    case alreadySettled = -24
    /// The transaction's deadline has passed; begin again.
    case transactionExpired = -25
    /// The other app is not on this device.
    case otherAppMissing = -26
    /// The link of an e-mail led to no sign-in: it was used elsewhere, is too old, or the user stopped; offer to sign
    /// in or to send the e-mail again.
    case activationFailed = -27
    /// The server could not be reached.
    case network = -30
    /// The server's certificate is not acceptable.
    case tls = -31
    /// The server did not answer in time.
    case timeout = -32
    /// The server is in trouble (5xx or 429).
    case server = -33
    /// The server's answer is not what the protocol says.
    case responseInvalid = -34
    /// The provider refused; its error code is given.
    case oauth = -35
    /// Prompt=none, but the user is not signed in at the provider.
    case loginRequired = -36
    /// Prompt=none, but the provider needs the user.
    case interactionRequired = -37
    /// Prompt=none, but the user has to consent.
    case consentRequired = -38
    /// The user or the provider said no.
    case accessDenied = -39
    /// The issuer is not the configured one.
    case issuerMismatch = -40
    /// The one-time code is wrong or too old; ask the user for it again.
    case codeRejected = -41
    /// The issuer's keys could not be had.
    case keysUnavailable = -50
    /// The id_token breaks a rule; the message names it.
    case idTokenInvalid = -51
    /// Two sources disagree about who the user is.
    case profileMismatch = -52
    /// The e-mail address is not verified; verify it and confirm again.
    case emailNotVerified = -53
    /// The registration check knows no such account; the host can offer to create one.
    case unknownAccount = -54
    /// The session is over; sign in again.
    case reauthenticate = -60
    /// The provider refused to renew, without ending the session.
    case rejected = -61
    /// The token expired and could not be renewed yet.
    case expired = -62
    /// The store's key is not to be had now.
    case storeLocked = -70
    /// The store's file is damaged; it was set aside.
    case storeCorrupt = -71
    /// The store's owner, permissions or kind are not acceptable.
    case storeRefused = -72
    /// The store could not be read or written.
    case storeIO = -73
    /// No space is left for the store.
    case storeFull = -74
    /// The key is not this store's.
    case storeKey = -75
    /// The store was written by a newer version.
    case storeVersion = -76
    /// The text is not acceptable JSON.
    case json = -80
    /// A defect of this library; please report it.
    case `internal` = -99
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
  public static func == (left: EnrollError, right: EnrollError) -> Bool {
    left.details === right.details
      || left.code == right.code && left.message == right.message && left.field == right.field
        && left.httpStatus == right.httpStatus && left.oauthError == right.oauthError
        && left.retryAfterSeconds == right.retryAfterSeconds
        && left.hasEndedAttempt == right.hasEndedAttempt
  }

  fileprivate final class Details: Sendable {
    let code: Code
    let message: String
    let field: String?
    let httpStatus: Int?
    let oauthError: String?
    let retryAfterSeconds: Int64?
    let hasEndedAttempt: Bool

    init(
      code: Code, message: String, field: String?, httpStatus: Int?, oauthError: String?,
      retryAfterSeconds: Int64?, hasEndedAttempt: Bool
    ) {
      self.code = code
      self.message = message
      self.field = field
      self.httpStatus = httpStatus
      self.oauthError = oauthError
      self.retryAfterSeconds = retryAfterSeconds
      self.hasEndedAttempt = hasEndedAttempt
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

  /// What a text that is not acceptable JSON means to its reader.
  /// - Parameter code: `.outOfMemory` takes its place where that was all.
  package init(
    _ code: Code, _ message: String, _ cause: JSONError, field: String? = nil, httpStatus: Int? = nil
  ) {
    self.init(
      cause.isOutOfMemory ? .outOfMemory : code, message + cause.message, field: field, httpStatus: httpStatus
    )
  }
}
