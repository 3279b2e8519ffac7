// The table of errors. A row has the error's stable number, its name, which side is to blame, the category, what helps,
// a summary in one sentence, and advice. From this table, `make generate` generates the constants of the header, the
// bindings' exceptions, the pages of the documentation and the comments of the cases. The commands list their own
// errors.

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

  // Each row has exactly three lines: long texts are not wrapped.
  // swift-format-ignore
  var row: Row {
    switch self {
    case .invalidArgument:
      Row("invalidArgument", .caller, .usage, .support, "an argument is missing, of the wrong type or out of range",
        advice: "Correct the call. `field` names the argument. This is a bug in the program: report it to its developer.")
    case .handle:
      Row("handle", .caller, .failed, .support, "the handle is null, stale or already freed",
        advice: "Do not use a client after it is closed. In C, `enroll_client_free` ends a handle.")
    case .reentrant:
      Row("reentrant", .caller, .failed, .support, "a host callback called back into the library",
        advice: "Do not call EnrollKit from your transport, key or clock callback. Do the work after the callback has returned.")
    case .forked:
      Row("forked", .caller, .failed, .support, "the process forked after the client was made; open a new one in the child",
        advice: "Open a client in the child process. Objects that were made before the fork fail there.")
    case .bufferTooSmall:
      Row("bufferTooSmall", .caller, .failed, .support, "the caller's buffer is too small; the needed size was reported",
        advice: "Call again with a buffer of the reported size.")
    case .cancelled:
      Row("cancelled", .caller, .interrupted, .retry, "the call was cancelled",
        advice: "Nothing. Your program cancelled the call. A request that was already sent continues, and its tokens are stored.")
    case .deadlineExceeded:
      Row("deadlineExceeded", .caller, .unreachable, retry: true, .retry, "the caller's deadline passed first",
        advice: "Wait again, or pass a longer timeout. A sign-in is still pending: await its outcome again. If the browser shows an error page, compare the client id and the redirect URI with those at the provider.")
    case .busy:
      Row("busy", .caller, .busy, retry: true, .retry, "too many calls run at once; try again",
        advice: "Try again in a moment. If the message names a port, [another program has taken it](#the-port-is-taken-by-another-program): end that program, or register a redirect URI without a port, so that the system chooses a free one.")
    case .unsupported:
      Row("unsupported", .caller, .usage, .support, "this build, this machine or this provider does not support it",
        advice: "Read the message: it names what is missing. To install a missing library, see [the installation page](install.md#what-the-system-needs). If no browser could be opened, show the user the URL, or use the device grant.")
    case .illegalState:
      Row("illegalState", .caller, .signInNeeded, .support, "the registration's state does not allow the call",
        advice: "Read the state first (`registration.state`). [The table](states.md#table) shows what each state allows.")
    case .notFound:
      Row("notFound", .caller, .failed, .support, "no such command, account or transaction",
        advice: "Check the name. `accounts.list` lists the accounts in a store. A client does not find another account's transactions.")
    case .outOfMemory:
      Row("outOfMemory", .internal, .failed, retry: true, .retry, "memory ran out",
        advice: "Free memory, then call again. Nothing was lost.")
    case .configuration:
      Row("configuration", .host, .usage, .support, "the configuration is invalid; the error names the key",
        advice: "Correct the key that `field` names. [The configuration page](configuration.md) lists the values of every key.")
    case .redirectMalformed:
      Row("redirectMalformed", .network, .notFinished, .registerAgain, "the URL is not a valid redirect",
        advice: "Nothing. Pass every URL that your app receives, unchanged; a URL that is not a redirect has no effect.")
    case .redirectMismatch:
      Row("redirectMismatch", .network, .notFinished, .registerAgain, "the URL is not the redirect URI of its transaction",
        advice: "Pass the URL exactly as your app received it. If the provider returns to another address, correct `redirectUri`.")
    case .unsolicited:
      Row("unsolicited", .network, .notFinished, .registerAgain, "no pending transaction expects this URL",
        advice: "Nothing, or offer to sign in. The URL does not belong to a pending sign-in; anybody can send such a URL.")
    case .alreadySettled:
      Row("alreadySettled", .network, .notFinished, .registerAgain, "the transaction is already settled",
        advice: "Nothing. The sign-in already has an outcome: read it with `registration.state`. A second redirect has no effect.")
    case .transactionExpired:
      Row("transactionExpired", .user, .notFinished, .registerAgain, "the transaction's deadline has passed; begin again",
        advice: "Begin the sign-in again. `transactionLifetime` sets how long a sign-in may take.")
    case .otherAppMissing:
      Row("otherAppMissing", .user, .notFinished, .registerAgain, "the other app is not on this device",
        advice: "Offer another way to sign in, or send the user to the app's page in the store.")
    case .activationFailed:
      Row("activationFailed", .user, .notFinished, .registerAgain, "the e-mail link led to no sign-in: it was used elsewhere, is too old, or the user stopped; offer to sign in or to send the e-mail again",
        advice: "Offer to sign in or to send the e-mail again. [Links in e-mails](links.md) explains why links fail.")
    case .network:
      Row("network", .network, .unreachable, retry: true, .wait, "the server could not be reached",
        advice: "Try again later. Check the address, the DNS server, the firewall and the proxy. `provider.check`, or the command `doctor`, shows how the provider responds. This error never ends a session.")
    case .tls:
      Row("tls", .server, .refused, .support, "the server's certificate is not trusted",
        advice: "Check this machine's clock and its CA certificates. If your own certificate authority issued the provider's certificate, set `caFile` to the authority's PEM file. EnrollKit never skips the check.")
    case .timeout:
      Row("timeout", .network, .unreachable, retry: true, .wait, "the server did not answer in time",
        advice: "Try again later. The server accepts connections but does not answer.")
    case .server:
      Row("server", .server, .unreachable, retry: true, .wait, "the server failed or is overloaded (5xx or 429)",
        advice: "Try again later. `retryAfter` says when, if the server gave a time. EnrollKit itself waits longer after each attempt.")
    case .responseInvalid:
      Row("responseInvalid", .server, .refused, .support, "the server's response violates the protocol",
        advice: "Check the issuer: another server or a proxy may have answered. The message says what was expected and what was received. If the provider has no discovery document, set its endpoints in `endpoints`.")
    case .oauth:
      Row("oauth", .server, .refused, .registerAgain, "the provider refused; its error code is given",
        advice: "Read `oauthError`. `invalid_client`: check the client id and the secret. `invalid_scope`: request other scopes. `other_error` stands for a code that is not shown, because it may be part of a token. `invalid_request`: compare the redirect URI with the registered one. [The guides](providers.md#guides) list what each provider requires.")
    case .loginRequired:
      Row("loginRequired", .user, .signInNeeded, .registerAgain, "prompt=none, but the user is not signed in at the provider",
        advice: "Begin a sign-in without `prompt=none`.")
    case .interactionRequired:
      Row("interactionRequired", .user, .signInNeeded, .registerAgain, "prompt=none, but the provider must interact with the user",
        advice: "Begin a sign-in without `prompt=none`.")
    case .consentRequired:
      Row("consentRequired", .user, .signInNeeded, .registerAgain, "prompt=none, but the user has to consent",
        advice: "Begin a sign-in without `prompt=none`, so that the user can consent.")
    case .accessDenied:
      Row("accessDenied", .user, .notFinished, .retry, "the user or the provider denied access",
        advice: "Offer to begin again. If the user did not decline, ask the provider's administrator about the app's permissions.")
    case .codeRejected:
      Row("codeRejected", .user, .notFinished, .retry, "the one-time code is wrong or too old; ask the user for it again",
        advice: "Ask the user for the code again. The fifth wrong code ends the sign-in.")
    case .issuerMismatch:
      Row("issuerMismatch", .server, .refused, .support, "the issuer is not the configured one",
        advice: "Set the issuer exactly as the provider reports it; the message contains both. For Entra ID with many tenants, use `provider`. If `field` is `iss`, do not change the issuer: the redirect came from another provider, or has no `iss` although the provider announces it. Begin the sign-in again.")
    case .keysUnavailable:
      Row("keysUnavailable", .server, .unreachable, retry: true, .wait, "the issuer's keys could not be fetched",
        advice: "Try again later: the sign-in is still pending if no code was sent. Check that this machine can reach the provider's `jwks_uri`.")
    case .idTokenInvalid:
      Row("idTokenInvalid", .server, .refused, .registerAgain, "the id_token violates a rule; the message names it",
        advice: "Read the message: it names the claim and the expected value ([the rules](rules.md#the-id_token)). A wrong time means a wrong clock, on this machine or at the provider; a wrong `aud` means another client id; a wrong `iss` means another issuer.")
    case .profileMismatch:
      Row("profileMismatch", .server, .refused, .registerAgain, "two sources disagree about who the user is",
        advice: "Sign in again as one user. If the error recurs, the provider or your back end mixes up users: report it there.")
    case .emailNotVerified:
      Row("emailNotVerified", .user, .notFinished, retry: true, .verifyEmail, "the e-mail address is not verified; verify it and confirm again",
        advice: "Ask the user to open the provider's e-mail, then confirm again.")
    case .unknownAccount:
      Row("unknownAccount", .user, .refused, .createAccount, "the registration check does not know the account; the host can offer to create one",
        advice: "Offer to create an account (`registration.begin` with the kind `register`).")
    case .reauthenticate:
      Row("reauthenticate", .user, .signInNeeded, .registerAgain, "the session is over; sign in again",
        advice: "Let the user sign in again. This is the only outcome that requires it.")
    case .rejected:
      Row("rejected", .server, .refused, retry: true, .wait, "the provider refused to renew, without ending the session",
        advice: "Try again after a minute. If the error persists, check the client id and the secret: the provider rejects the app, not the user.")
    case .expired:
      Row("expired", .network, .unreachable, retry: true, .wait, "the token expired and could not be renewed yet",
        advice: "Try again later; `retryAfter` says when EnrollKit tries next. The session has not ended.")
    case .storeLocked:
      Row("storeLocked", .host, .storeLocked, retry: true, .wait, "the store is locked: its key is unavailable",
        advice: "Unlock the keyring, or pass the passphrase or the PIN. The same client then works again. If this machine has no keyring, keep the key in a file (`\"keys\": {\"provider\": \"file\"}`) or use a passphrase.")
    case .storeCorrupt:
      Row("storeCorrupt", .host, .storeUnusable, .registerAgain, "a file of the store is damaged; the message names it",
        advice: "Call `store.diagnose`, or run the command `doctor`. They name the file, which EnrollKit renamed and did not erase. Restore the file from a backup, or sign in again.")
    case .storeRefused:
      Row("storeRefused", .host, .storeUnusable, .support, "the store's owner, permissions or file type are not safe",
        advice: "Read the message: it names the folder and says what to do. Give the store directory to the user who runs the program, with mode 0700, and its files mode 0600. Put the store on a local disk: EnrollKit rejects network file systems and FUSE.")
    case .storeIO:
      Row("storeIO", .host, .storeUnusable, retry: true, .retry, "the store could not be read or written",
        advice: "Read the message: it names the file and the system error. Check the disk. Tokens that could not be written stay in memory and are written as soon as the disk allows.")
    case .storeFull:
      Row("storeFull", .host, .storeUnusable, retry: true, .wait, "no space is left for the store",
        advice: "Free space on the disk that holds the store. Nothing was lost: EnrollKit reserves space before it spends a refresh token.")
    case .storeKey:
      Row("storeKey", .host, .storeLocked, .registerAgain, "the key does not belong to this store",
        advice: "Configure the key with which the store was created (`keys`). A store cannot be read without its key: remove the store and sign in again.")
    case .storeVersion:
      Row("storeVersion", .host, .storeUnusable, .support, "the store was written by a newer version",
        advice: "Update EnrollKit. The newer version that wrote the store is or was installed on this machine.")
    case .json:
      Row("json", .caller, .usage, .support, "the text is not valid JSON, or exceeds a limit",
        advice: "Correct the JSON. [The JSON-RPC page](json-rpc.md) lists the limits.")
    case .internal:
      Row("internal", .internal, .failed, .support, "a bug in this library; please report it",
        advice: "Report the bug, with the message and `diagnostics.export`, which contains no secret.")
    }
  }
}
