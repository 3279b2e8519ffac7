// The calls from the first sign-in to a confirmed registration: the start, the redirect, and the user's confirmation.

import EnrollRules
import EnrollHost

extension EnrollClient {
  /// The state of the registration. If a token is due for renewal, it is renewed first.
  /// - Parameters:
  ///   - wait: whether to wait until the state no longer changes by itself.
  ///   - timeout: how long it may take.
  /// - Throws: `.deadlineExceeded` if `timeout` passes first; errors of the store.
  public func state(
    wait: Bool = false, timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.registrationState(wait: wait, until: deadline, cancellation: cancellation)
    }
  }

  /// Begins a sign-in. The caller then has to open the URL of the transaction's action in the external browser.
  /// - Throws: `.network` and similar errors if the provider cannot be reached; `.illegalState`; errors of the store.
  public func begin(
    _ options: SignInOptions = SignInOptions(), timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> Transaction {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.begin(options, until: deadline, cancellation: cancellation)
    }
  }

  /// Completes a transaction with its redirect, in this process or in a later process.
  /// - Parameters:
  ///   - url: the whole URL, as the system passed it.
  ///   - transactionID: the transaction of the redirect. Needed only if the URL has no `state`, as from another app,
  ///     and several transactions are pending.
  ///   - timeout: how long it may take.
  /// - Throws: `.unsolicited`, `.redirectMismatch`, `.alreadySettled` and others if the URL settles no transaction:
  ///   nothing changes; `.accessDenied`, `.loginRequired`, `.idTokenInvalid` and others if the sign-in failed.
  public func resume(
    _ url: String, transactionID: TransactionID? = nil, timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.resume(url, transactionID: transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Submits the one-time code that the user typed after ``HostAction/enterCode(recipient:)``.
  /// - Throws: `.codeRejected` if the code is wrong: the transaction waits for another code. `.accessDenied` if codes
  ///   were wrong too often, `.oauth` if the provider accepts no further code: both end the transaction. After
  ///   `.network` and similar errors, call this method again.
  public func submitCode(
    _ code: String, of transactionID: TransactionID, timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> RegistrationState {
    let code = Secret(code)
    return try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.submitCode(
        code, transactionID: transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Waits for the outcome of a sign-in. For a sign-in with a loopback redirect, the caller need do nothing else.
  /// - Throws: the error that made the sign-in fail; `.transactionExpired`; `.deadlineExceeded` if `timeout` passes
  ///   first.
  public func awaitOutcome(
    of transaction: Transaction, timeout: Duration = .seconds(600)
  ) async throws(EnrollError) -> RegistrationState {
    try await awaitOutcome(of: transaction.transactionID, timeout: timeout)
  }

  /// Waits for the outcome of a transaction, in this process or in a later process. The outcome is its redirect or,
  /// with ``HostAction/showDeviceCode(_:)``, the user's approval on another device, for which the provider is polled.
  /// - Parameters:
  ///   - transactionID: ``Transaction/transactionID``.
  ///   - timeout: how long it may take.
  /// - Throws: as ``awaitOutcome(of:timeout:)-(Transaction,_)``; `.notFound` for an unknown transaction.
  public func awaitOutcome(
    of transactionID: TransactionID, timeout: Duration = .seconds(600)
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.awaitTransaction(transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Handles a link that reached the app: the link in a registration e-mail, or the fallback link. Each link works
  /// once, and only while a transaction waits for it.
  /// - Throws: `.redirectMalformed`, `.redirectMismatch` for a link that is not the app's, `.illegalState`, `.network`
  ///   and similar errors (the link can then be used again), errors of the store.
  public func handleLink(_ url: String, timeout: Duration = defaultTimeout) async throws(EnrollError)
    -> HandledLink
  {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.handleLink(url, until: deadline, cancellation: cancellation)
    }
  }

  /// Handles any URL that reaches the app: a redirect, a logout callback, an activation or fallback link, or another
  /// URL.
  public func handle(_ url: String, timeout: Duration = defaultTimeout) async throws(EnrollError)
    -> HandledURL
  {
    try await offload(timeout) { client, deadline, cancellation throws(EnrollError) in
      try client.handle(url, until: deadline, cancellation: cancellation)
    }
  }

  /// Confirms the profile for the user: the provisional tokens become the session.
  /// - Parameter transactionID: the transaction of ``RegistrationState/awaitingConfirmation(transactionID:profile:)``
  ///   whose profile the user has confirmed; nil for the only transaction that this client has shown.
  /// - Throws: `.illegalState` if nothing waits for confirmation, or if a sign-in waits that was not shown: nothing
  ///   changes. `.emailNotVerified`, `.unknownAccount`, or the error of the registration check's request: the state
  ///   stays `awaitingConfirmation`. `.profileMismatch`: the state becomes `registrationFailed`. `.oauth`: the state
  ///   becomes `renewalFailed`.
  @discardableResult
  public func confirm(_ transactionID: TransactionID? = nil) async throws(EnrollError) -> RegistrationState {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.confirm(transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Starts the registration over: erases provisional tokens. An earlier session continues.
  /// - Parameter transactionID: the transaction whose profile the user rejects; `.illegalState` if another
  ///   transaction waits. nil rejects any transaction that waits.
  @discardableResult
  public func retry(_ transactionID: TransactionID? = nil) async throws(EnrollError) -> RegistrationState {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.retry(transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Reports that the user closed the browser. This is a hint: a valid redirect that arrives before the deadline still
  /// counts. A registration then waits for the link in the user's e-mail.
  @discardableResult
  public func cancel(_ transaction: Transaction? = nil) async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.cancel(transaction?.transactionID) }
  }

  /// Reports that the user closed the browser, for a transaction that an earlier process began.
  /// - Parameter transactionID: ``Transaction/transactionID``.
  @discardableResult
  public func cancel(_ transactionID: TransactionID) async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.cancel(transactionID) }
  }

  /// Reports that the link of ``HostAction/openOtherApp(_:)`` could not be opened: the device has no such app.
  /// - Returns: the state `registrationFailed`, or the state of the session, which the transaction did not change.
  /// - Throws: `.notFound`, `.illegalState` for another kind of transaction, `.alreadySettled`, `.transactionExpired`.
  @discardableResult
  public func otherAppMissing(_ transactionID: TransactionID) async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.otherAppMissing(transactionID) }
  }
}

extension Transaction {
  /// The URL to open; empty if the host has to ask the user for a code instead (``HostAction/enterCode(recipient:)``).
  public var url: String { action.url ?? "" }
}
