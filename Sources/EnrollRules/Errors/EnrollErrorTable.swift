// The table of errors: for each its stable number, its name, its blame, whether retrying helps, and one sentence. `make
// generate` generates from it the constants of the header, the bindings' exceptions, the pages of the documentation and
// the comments of the cases. The commands list their own errors.

extension EnrollError {
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
    /// Too many calls run at once; try again.
    case busy = -8
    /// This build, this machine or this provider does not support it.
    case unsupported = -9
    /// The registration's state does not allow the call.
    case illegalState = -10
    /// No such command, account or transaction.
    case notFound = -11
    /// Memory ran out.
    case outOfMemory = -12
    /// The configuration is invalid; the error names the key.
    case configuration = -20
    /// The URL is not a valid redirect.
    case redirectMalformed = -21
    /// The URL is not the redirect URI of its transaction.
    case redirectMismatch = -22
    /// No pending transaction expects this URL.
    case unsolicited = -23
    /// The transaction is already settled.
    case alreadySettled = -24
    /// The transaction's deadline has passed; begin again.
    case transactionExpired = -25
    /// The other app is not on this device.
    case otherAppMissing = -26
    /// The e-mail link led to no sign-in: it was used elsewhere, is too old, or the user stopped; offer to
    /// sign in or to send the e-mail again.
    case activationFailed = -27
    /// The server could not be reached.
    case network = -30
    /// The server's certificate is not trusted.
    case tls = -31
    /// The server did not answer in time.
    case timeout = -32
    /// The server failed or is overloaded (5xx or 429).
    case server = -33
    /// The server's response violates the protocol.
    case responseInvalid = -34
    /// The provider refused; its error code is given.
    case oauth = -35
    /// prompt=none, but the user is not signed in at the provider.
    case loginRequired = -36
    /// prompt=none, but the provider must interact with the user.
    case interactionRequired = -37
    /// prompt=none, but the user has to consent.
    case consentRequired = -38
    /// The user or the provider denied access.
    case accessDenied = -39
    /// The issuer is not the configured one.
    case issuerMismatch = -40
    /// The one-time code is wrong or too old; ask the user for it again.
    case codeRejected = -41
    /// The issuer's keys could not be fetched.
    case keysUnavailable = -50
    /// The id_token violates a rule; the message names it.
    case idTokenInvalid = -51
    /// Two sources disagree about who the user is.
    case profileMismatch = -52
    /// The e-mail address is not verified; verify it and confirm again.
    case emailNotVerified = -53
    /// The registration check does not know the account; the host can offer to create one.
    case unknownAccount = -54
    /// The session is over; sign in again.
    case reauthenticate = -60
    /// The provider refused to renew, without ending the session.
    case rejected = -61
    /// The token expired and could not be renewed yet.
    case expired = -62
    /// The store is locked: its key is unavailable.
    case storeLocked = -70
    /// A file of the store is damaged; the message names it.
    case storeCorrupt = -71
    /// The store's owner, permissions or file type are not safe.
    case storeRefused = -72
    /// The store could not be read or written.
    case storeIO = -73
    /// No space is left for the store.
    case storeFull = -74
    /// The key does not belong to this store.
    case storeKey = -75
    /// The store was written by a newer version.
    case storeVersion = -76
    /// The text is not valid JSON, or exceeds a limit.
    case json = -80
    /// A bug in this library; please report it.
    case `internal` = -99
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
    case .busy: Row("busy", .caller, retry: true, "too many calls run at once; try again")
    case .unsupported:
      Row("unsupported", .caller, "this build, this machine or this provider does not support it")
    case .illegalState:
      Row("illegalState", .caller, "the registration's state does not allow the call")
    case .notFound: Row("notFound", .caller, "no such command, account or transaction")
    case .outOfMemory: Row("outOfMemory", .internal, retry: true, "memory ran out")
    case .configuration:
      Row("configuration", .host, "the configuration is invalid; the error names the key")
    case .redirectMalformed:
      Row("redirectMalformed", .network, "the URL is not a valid redirect")
    case .redirectMismatch:
      Row("redirectMismatch", .network, "the URL is not the redirect URI of its transaction")
    case .unsolicited: Row("unsolicited", .network, "no pending transaction expects this URL")
    case .alreadySettled: Row("alreadySettled", .network, "the transaction is already settled")
    case .transactionExpired:
      Row("transactionExpired", .user, "the transaction's deadline has passed; begin again")
    case .otherAppMissing: Row("otherAppMissing", .user, "the other app is not on this device")
    case .activationFailed:
      Row(
        "activationFailed", .user,
        "the e-mail link led to no sign-in: it was used elsewhere, is too old, or the user stopped; offer to sign in or to send the e-mail again"
      )
    case .network: Row("network", .network, retry: true, "the server could not be reached")
    case .tls: Row("tls", .server, "the server's certificate is not trusted")
    case .timeout: Row("timeout", .network, retry: true, "the server did not answer in time")
    case .server: Row("server", .server, retry: true, "the server failed or is overloaded (5xx or 429)")
    case .responseInvalid:
      Row("responseInvalid", .server, "the server's response violates the protocol")
    case .oauth: Row("oauth", .server, "the provider refused; its error code is given")
    case .loginRequired:
      Row("loginRequired", .user, "prompt=none, but the user is not signed in at the provider")
    case .interactionRequired:
      Row("interactionRequired", .user, "prompt=none, but the provider must interact with the user")
    case .consentRequired: Row("consentRequired", .user, "prompt=none, but the user has to consent")
    case .accessDenied: Row("accessDenied", .user, "the user or the provider denied access")
    case .codeRejected:
      Row("codeRejected", .user, "the one-time code is wrong or too old; ask the user for it again")
    case .issuerMismatch: Row("issuerMismatch", .server, "the issuer is not the configured one")
    case .keysUnavailable:
      Row("keysUnavailable", .server, retry: true, "the issuer's keys could not be fetched")
    case .idTokenInvalid: Row("idTokenInvalid", .server, "the id_token violates a rule; the message names it")
    case .profileMismatch: Row("profileMismatch", .server, "two sources disagree about who the user is")
    case .emailNotVerified:
      Row(
        "emailNotVerified", .user, retry: true,
        "the e-mail address is not verified; verify it and confirm again")
    case .unknownAccount:
      Row(
        "unknownAccount", .user,
        "the registration check does not know the account; the host can offer to create one")
    case .reauthenticate: Row("reauthenticate", .user, "the session is over; sign in again")
    case .rejected:
      Row("rejected", .server, retry: true, "the provider refused to renew, without ending the session")
    case .expired: Row("expired", .network, retry: true, "the token expired and could not be renewed yet")
    case .storeLocked: Row("storeLocked", .host, retry: true, "the store is locked: its key is unavailable")
    case .storeCorrupt: Row("storeCorrupt", .host, "a file of the store is damaged; the message names it")
    case .storeRefused:
      Row("storeRefused", .host, "the store's owner, permissions or file type are not safe")
    case .storeIO: Row("storeIO", .host, retry: true, "the store could not be read or written")
    case .storeFull: Row("storeFull", .host, retry: true, "no space is left for the store")
    case .storeKey: Row("storeKey", .host, "the key does not belong to this store")
    case .storeVersion: Row("storeVersion", .host, "the store was written by a newer version")
    case .json: Row("json", .caller, "the text is not valid JSON, or exceeds a limit")
    case .internal: Row("internal", .internal, "a bug in this library; please report it")
    }
  }
}
