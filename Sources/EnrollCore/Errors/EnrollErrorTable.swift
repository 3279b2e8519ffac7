// One row for each error code: its name, who is to blame, whether retrying helps, and one sentence.

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
