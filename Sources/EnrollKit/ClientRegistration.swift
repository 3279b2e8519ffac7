// From the first sign-in to a confirmed registration: what is begun, what comes back, what the user says to it.

public import EnrollCore
import EnrollHost

extension EnrollClient {
  /// Where the registration stands; a token that is due is renewed first.
  /// - Parameters:
  ///   - wait: whether to wait until nothing more happens without the host or the user.
  ///   - timeout: how long it may take.
  /// - Throws: `.deadlineExceeded` when `timeout` ends first, store errors.
  public func state(
    wait: Bool = false, timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.registrationState(wait: wait, until: deadline, cancellation: cancellation)
    }
  }

  /// Begins a sign-in: open the URL of its action in the external browser.
  /// - Throws: `.network` and its kin when the provider cannot be asked, `.illegalState`, store errors.
  public func begin(
    _ options: SignInOptions = SignInOptions(), timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> Transaction {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.begin(options, until: deadline, cancellation: cancellation)
    }
  }

  /// Takes the redirect back, in this process or a later one.
  /// - Parameters:
  ///   - url: as it came from the system, whole.
  ///   - transactionID: the transaction that the host takes it for; needed only for a return without `state` when
  ///     several are pending (another app's, say).
  ///   - timeout: how long it may take.
  /// - Throws: why it settles nothing (`.unsolicited`, `.redirectMismatch`, `.alreadySettled`, …: nothing changed), or
  ///   why its sign-in failed (`.accessDenied`, `.loginRequired`, `.idTokenInvalid`, …).
  public func resume(
    _ url: String, transactionID: String? = nil, timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.resume(url, transactionID: transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Takes the one-time code that the user typed after ``HostAction/enterCode(recipient:)``.
  /// - Throws: `.codeRejected` when it is wrong, and the transaction waits for another; `.accessDenied` when it was wrong
  ///   too often, `.oauth` when the provider takes no more: both end it; `.network` and its kin: send it again.
  public func submitCode(
    _ code: String, of transactionID: String, timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> RegistrationState {
    let code = Secret(code)
    return try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.submitCode(
        code, transactionID: transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Waits for the outcome of a sign-in. With a loopback redirect, nothing else has to be done.
  /// - Throws: what made it fail; `.transactionExpired`; `.deadlineExceeded` when `timeout` ends first.
  public func awaitOutcome(
    of transaction: Transaction, timeout: Duration = .seconds(600)
  ) async throws(EnrollError) -> RegistrationState {
    try await awaitOutcome(of: transaction.transactionID, timeout: timeout)
  }

  /// Waits for the outcome of a transaction, in this process or a later one: its redirect or, with
  /// ``HostAction/showDeviceCode(_:)``, by the user elsewhere, about which the provider is asked meanwhile.
  /// - Parameters:
  ///   - transactionID: ``Transaction/transactionID``.
  ///   - timeout: how long it may take.
  /// - Throws: as ``awaitOutcome(of:timeout:)-(Transaction,_)``; `.notFound` for an unknown transaction.
  public func awaitOutcome(
    of transactionID: String, timeout: Duration = .seconds(600)
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.awaitTransaction(transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Takes a link that reached the app: the one in the e-mail of a registration, or the fallback link. Each leads on
  /// once, and only while a transaction of ours waits for it.
  /// - Throws: `.redirectMalformed`, `.redirectMismatch` for a link that is none of ours, `.illegalState`, `.network` and
  ///   its kin (the link is not used up then), store errors.
  public func handleLink(_ url: String, timeout: Duration = defaultTimeout) async throws(EnrollError)
    -> HandledLink
  {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.handleLink(url, until: deadline, cancellation: cancellation)
    }
  }

  /// Takes any URL that reaches the app: redirect, logout callback, activation or fallback link, or none of
  /// ours.
  public func handle(_ url: String, timeout: Duration = defaultTimeout) async throws(EnrollError)
    -> HandledURL
  {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.handle(url, until: deadline, cancellation: cancellation)
    }
  }

  /// The user says that the profile is theirs: the provisional tokens become the session.
  /// - Throws: `.illegalState` when nothing waits for confirmation; `.emailNotVerified`, `.unknownAccount`, or why the
  ///   registration check could not be asked: the state stays G. `.profileMismatch`: F; `.oauth`: E.
  @discardableResult
  public func confirm() async throws(EnrollError) -> RegistrationState {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.confirm(until: deadline, cancellation: cancellation)
    }
  }

  /// Back to the choices: provisional tokens are revoked and cleared, an earlier session survives.
  @discardableResult
  public func retry() async throws(EnrollError) -> RegistrationState {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.retry(until: deadline, cancellation: cancellation)
    }
  }

  /// The user closed the browser: a hint, a late valid redirect still wins until the deadline. A registration waits for
  /// the link in the user's e-mail from then on.
  @discardableResult
  public func cancel(_ transaction: Transaction? = nil) async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.cancel(transaction?.transactionID) }
  }

  /// The same, in a later process.
  /// - Parameter transactionID: ``Transaction/transactionID``.
  @discardableResult
  public func cancel(_ transactionID: String) async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.cancel(transactionID) }
  }

  /// The link of ``HostAction/openOtherApp(_:)`` could not be opened: there is no such app on the device.
  /// - Returns: the state F, or the session beside which the transaction ran.
  /// - Throws: `.notFound`, `.illegalState` for another kind of transaction, `.alreadySettled`, `.transactionExpired`.
  @discardableResult
  public func otherAppMissing(_ transactionID: String) async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.otherAppMissing(transactionID) }
  }
}

extension Transaction {
  /// The URL to open; empty if the host has to ask the user for a code instead (``HostAction/enterCode(recipient:)``).
  public var url: String { action.url ?? "" }
}
