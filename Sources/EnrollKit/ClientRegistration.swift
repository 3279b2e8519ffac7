// From the first sign-in to a confirmed registration: what is begun, what comes back, what the user says to it.

public import EnrollCore
import EnrollHost

extension EnrollClient {
  /// Where the registration stands; a token that is due is renewed first.
  /// - Parameters:
  ///   - settled: wait until nothing more happens without the host or the user.
  ///   - patience: how long it may take.
  /// - Throws: `.deadlineExceeded` when `patience` ends first, store errors.
  public func state(
    settled: Bool = false, patience: Duration = defaultPatience
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.registrationState(wait: settled, until: deadline, cancellation: cancellation)
    }
  }

  /// Begins a sign-in: open the URL of its action in the external browser.
  /// - Throws: `.network` and its kin when the provider cannot be asked, `.illegalState`, store errors.
  public func begin(
    _ options: SignInOptions = SignInOptions(), patience: Duration = defaultPatience
  ) async throws(EnrollError) -> BegunTransaction {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.begin(options, until: deadline, cancellation: cancellation)
    }
  }

  /// Takes the redirect back, in this process or a later one.
  /// - Parameters:
  ///   - url: as it came from the system, whole.
  ///   - transactionID: the transaction that the host takes it for; needed only for a return without `state` when
  ///     several are pending (another app's, say).
  ///   - patience: how long it may take.
  /// - Throws: why it settles nothing (`.unsolicited`, `.redirectMismatch`, `.alreadySettled`, …: nothing changed), or
  ///   why its sign-in failed (`.accessDenied`, `.loginRequired`, `.idTokenInvalid`, …).
  public func resume(
    _ url: String, transactionID: String? = nil, patience: Duration = defaultPatience
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.resume(url, transactionID: transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Takes the one-time code that the user typed after ``HostAction/enterCode(recipient:)``.
  /// - Throws: `.codeRejected` when it is wrong, and the transaction waits for another; `.accessDenied` when it was wrong
  ///   too often, `.oauth` when the provider takes no more: both end it; `.network` and its kin: send it again.
  public func submitCode(
    _ code: String, of transactionID: String, patience: Duration = defaultPatience
  ) async throws(EnrollError) -> RegistrationState {
    let code = Secret(code)
    return try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.submitCode(
        code, transactionID: transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Waits until a sign-in is settled: with a loopback redirect, nothing else has to be done.
  /// - Throws: what made it fail; `.transactionExpired`; `.deadlineExceeded` when `patience` ends first.
  public func settled(
    _ transaction: BegunTransaction, patience: Duration = .seconds(600)
  ) async throws(EnrollError) -> RegistrationState {
    try await settled(transaction.transactionID, patience: patience)
  }

  /// Waits until a transaction is settled, in this process or a later one: by its redirect or, with
  /// ``HostAction/showDeviceCode(_:)``, by the user elsewhere, about which the provider is asked meanwhile.
  /// - Parameters:
  ///   - transactionID: ``BegunTransaction/transactionID``.
  ///   - patience: how long it may take.
  /// - Throws: as ``settled(_:patience:)-(BegunTransaction,_)``; `.notFound` for an unknown transaction.
  public func settled(
    _ transactionID: String, patience: Duration = .seconds(600)
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.awaitTransaction(transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Takes a link that reached the app: the one in the e-mail of a registration, or the fallback link. Each leads on
  /// once, and only while a transaction of ours waits for it.
  /// - Throws: `.redirectMalformed`, `.redirectMismatch` for a link that is none of ours, `.illegalState`, `.network` and
  ///   its kin (the link is not used up then), store errors.
  public func handleLink(_ url: String, patience: Duration = defaultPatience) async throws(EnrollError)
    -> LinkOutcome
  {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.handleLink(url, until: deadline, cancellation: cancellation)
    }
  }

  /// One door for every URL that reaches the app: redirect, logout callback, activation or fallback link, or none of
  /// ours.
  public func handle(_ url: String, patience: Duration = defaultPatience) async throws(EnrollError)
    -> HandledURL
  {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      switch try client.handle(url, until: deadline, cancellation: cancellation) {
      case .registration(let state): .registration(state)
      case .logoutFinished: .logoutFinished
      case .begun(let begun): .begun(begun)
      case .refused(let refusal): .refused(refusal)
      case .unsolicited: .unsolicited
      }
    }
  }

  /// What came of a URL.
  public enum HandledURL: Equatable, Sendable {
    /// It was a redirect, or an activation link that stood for one: here is where the registration stands.
    case registration(RegistrationState)
    /// It was the callback of a logout of ours.
    case logoutFinished
    /// Open the URL of its action: a link led on.
    case begun(BegunTransaction)
    /// A link led nowhere.
    case refused(LinkRefusal)
    /// Nothing of ours waits for it: leave it to the rest of the app.
    case unsolicited
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
  public func cancel(_ transaction: BegunTransaction? = nil) async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.cancel(transaction?.transactionID) }
  }

  /// The same, in a later process.
  /// - Parameter transactionID: ``BegunTransaction/transactionID``.
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

extension BegunTransaction {
  /// What is to be opened: empty where the host has nothing to open, but something to ask (``HostAction/enterCode(recipient:)``).
  public var url: String { action.url ?? "" }
}
