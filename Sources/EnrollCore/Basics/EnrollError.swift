// The one error type of all three faces. A code is a row of one table: its name, its stable number in C,
// who is to blame and whether retrying helps. Texts say what was expected and what came, never a secret (R40).

package import EnrollCrypto

/// Why a call failed. One reference in size: it is passed along by every function that can throw.
public struct EnrollError: Error, Sendable {
  private let details: Details

  public init(
    _ code: Code, _ message: String, field: String? = nil, httpStatus: Int? = nil,
    oauthError: String? = nil, retryAfterSeconds: Int64? = nil
  ) {
    details = Details(
      code: code, message: message, field: field, httpStatus: httpStatus, oauthError: oauthError,
      retryAfterSeconds: retryAfterSeconds)
  }

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

  /// The same, to be tried again in `seconds`.
  func retrying(after seconds: Int64) -> EnrollError {
    EnrollError(
      code, message, field: field, httpStatus: httpStatus, oauthError: oauthError,
      retryAfterSeconds: seconds)
  }

  /// Whose fault it is, so that a host knows whom to tell.
  public enum Blame: String, Sendable, CaseIterable {
    case caller, host, user, server, network, `internal`
  }

  /// The closed set of reasons. The raw value is the C status; numbers are never reused.
  public enum Code: Int32, Sendable, CaseIterable {
    case invalidArgument = -1
    case handle = -2
    case reentrant = -3
    case forked = -4
    case bufferTooSmall = -5
    case cancelled = -6
    case deadlineExceeded = -7
    case busy = -8
    case unsupported = -9
    case illegalState = -10
    case notFound = -11
    case outOfMemory = -12
    case configuration = -20
    case redirectMalformed = -21
    case redirectMismatch = -22
    case unsolicited = -23
    case alreadySettled = -24
    case transactionExpired = -25
    case otherAppMissing = -26
    case activationFailed = -27
    case network = -30
    case tls = -31
    case timeout = -32
    case server = -33
    case responseInvalid = -34
    case oauth = -35
    case loginRequired = -36
    case interactionRequired = -37
    case consentRequired = -38
    case accessDenied = -39
    case issuerMismatch = -40
    case codeRejected = -41
    case keysUnavailable = -50
    case idTokenInvalid = -51
    case profileMismatch = -52
    case emailNotVerified = -53
    case unknownAccount = -54
    case reauthenticate = -60
    case rejected = -61
    case expired = -62
    case storeLocked = -70
    case storeCorrupt = -71
    case storeRefused = -72
    case storeIO = -73
    case storeFull = -74
    case storeKey = -75
    case storeVersion = -76
    case json = -80
    case `internal` = -99
  }

  public var blame: Blame { code.row.blame }
  public var isRetryable: Bool { code.row.retryable }
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
  }

  fileprivate final class Details: Sendable {
    let code: Code
    let message: String
    let field: String?
    let httpStatus: Int?
    let oauthError: String?
    let retryAfterSeconds: Int64?

    init(
      code: Code, message: String, field: String?, httpStatus: Int?, oauthError: String?,
      retryAfterSeconds: Int64?
    ) {
      self.code = code
      self.message = message
      self.field = field
      self.httpStatus = httpStatus
      self.oauthError = oauthError
      self.retryAfterSeconds = retryAfterSeconds
    }
  }
}

extension EnrollError {
  /// `.unsupported` on a machine without OpenSSL, else `.internal`: what must not fail.
  /// - Parameter context: what could not be done for it, in front of its own words.
  package init(_ error: CryptoError, _ context: String? = nil) {
    let message = context.map { "\($0): \(error.message)" } ?? error.message
    self.init(error.reason == .missing ? .unsupported : .internal, message)
  }
}

extension EnrollError.Code {
  /// The name used in JSON (`storeLocked`) and, in capitals, in C (`ENROLL_E_STORE_LOCKED`).
  public var name: String { row.name }
  /// One sentence for the documentation.
  public var summary: String { row.summary }

  struct Row {
    var name: String
    var blame: EnrollError.Blame
    var retryable: Bool
    var summary: String

    init(_ name: String, _ blame: EnrollError.Blame, retry: Bool = false, _ summary: String) {
      self.name = name
      self.blame = blame
      self.retryable = retry
      self.summary = summary
    }
  }

  var row: Row {
    switch self {
    case .invalidArgument:
      Row("invalidArgument", .caller, "an argument is missing, of the wrong type or out of range")
    case .handle: Row("handle", .caller, "the handle is null, stale or already freed")
    case .reentrant: Row("reentrant", .caller, "a host callback called back into the library")
    case .forked:
      Row("forked", .caller, "the process forked after the client was made; open a new one in the child")
    case .bufferTooSmall:
      Row("bufferTooSmall", .caller, "the caller's buffer is too small; the needed size was reported")
    case .cancelled: Row("cancelled", .caller, "the call was cancelled")
    case .deadlineExceeded:
      Row("deadlineExceeded", .caller, retry: true, "the caller's deadline passed first")
    case .busy: Row("busy", .caller, retry: true, "too much is going on at once; ask again")
    case .unsupported: Row("unsupported", .caller, "this build, this machine or this provider cannot do that")
    case .illegalState:
      Row("illegalState", .caller, "the registration is in a state in which that is not possible")
    case .notFound: Row("notFound", .caller, "no such command, account or transaction")
    case .outOfMemory: Row("outOfMemory", .internal, retry: true, "memory could not be had")
    case .configuration:
      Row("configuration", .host, "the configuration is not acceptable; the field is named")
    case .redirectMalformed:
      Row("redirectMalformed", .network, "the URL is not one that a provider may redirect to")
    case .redirectMismatch:
      Row("redirectMismatch", .network, "the URL is not the redirect URI of its transaction")
    case .unsolicited: Row("unsolicited", .network, "no pending transaction asked for this URL")
    case .alreadySettled: Row("alreadySettled", .network, "the transaction was settled before")
    case .transactionExpired:
      Row("transactionExpired", .user, "the transaction's deadline has passed; begin again")
    case .otherAppMissing: Row("otherAppMissing", .user, "the other app is not on this device")
    case .activationFailed:
      Row(
        "activationFailed", .user,
        "the link of an e-mail led to no sign-in: it was used elsewhere, is too old, or the user stopped; offer to sign in or to send the e-mail again"
      )
    case .network: Row("network", .network, retry: true, "the server could not be reached")
    case .tls: Row("tls", .server, "the server's certificate is not acceptable")
    case .timeout: Row("timeout", .network, retry: true, "the server did not answer in time")
    case .server: Row("server", .server, retry: true, "the server is in trouble (5xx or 429)")
    case .responseInvalid:
      Row("responseInvalid", .server, "the server's answer is not what the protocol says")
    case .oauth: Row("oauth", .server, "the provider refused; its error code is given")
    case .loginRequired:
      Row("loginRequired", .user, "prompt=none, but the user is not signed in at the provider")
    case .interactionRequired:
      Row("interactionRequired", .user, "prompt=none, but the provider needs the user")
    case .consentRequired: Row("consentRequired", .user, "prompt=none, but the user has to consent")
    case .accessDenied: Row("accessDenied", .user, "the user or the provider said no")
    case .codeRejected:
      Row("codeRejected", .user, "the one-time code is wrong or too old; ask the user for it again")
    case .issuerMismatch: Row("issuerMismatch", .server, "the issuer is not the configured one")
    case .keysUnavailable: Row("keysUnavailable", .server, retry: true, "the issuer's keys could not be had")
    case .idTokenInvalid: Row("idTokenInvalid", .server, "the id_token breaks a rule; the message names it")
    case .profileMismatch: Row("profileMismatch", .server, "two sources disagree about who the user is")
    case .emailNotVerified:
      Row(
        "emailNotVerified", .user, retry: true,
        "the e-mail address is not verified; verify it and confirm again")
    case .unknownAccount:
      Row(
        "unknownAccount", .user,
        "the registration check knows no such account; the host can offer to create one")
    case .reauthenticate: Row("reauthenticate", .user, "the session is over; sign in again")
    case .rejected:
      Row("rejected", .server, retry: true, "the provider refused to renew, without ending the session")
    case .expired: Row("expired", .network, retry: true, "the token expired and could not be renewed yet")
    case .storeLocked: Row("storeLocked", .host, retry: true, "the store's key is not to be had now")
    case .storeCorrupt: Row("storeCorrupt", .host, "the store's file is damaged; it was set aside")
    case .storeRefused:
      Row("storeRefused", .host, "the store's owner, permissions or kind are not acceptable")
    case .storeIO: Row("storeIO", .host, retry: true, "the store could not be read or written")
    case .storeFull: Row("storeFull", .host, retry: true, "no space is left for the store")
    case .storeKey: Row("storeKey", .host, "the key is not this store's")
    case .storeVersion: Row("storeVersion", .host, "the store was written by a newer version")
    case .json: Row("json", .caller, "the text is not acceptable JSON")
    case .internal: Row("internal", .internal, "a defect of this library; please report it")
    }
  }
}
