// Registration through a client: begin, the redirect back by whatever way it comes, and the state.

public import EnrollCore
public import EnrollCrypto
import EnrollPosix

extension Client {
  /// The registration state; with `wait`, once it has settled: a sign-in that an earlier process left is waited for, too.
  /// Renews a token that is due, so that the answer is C or E
  /// rather than a promise (flows.md §7).
  public func registrationState(
    wait: Bool, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    try waitForPlatform(until: deadline, cancellation)
    outbox.sendAtStart()
    var state = try decidedState(until: deadline, cancellation: cancellation)
    guard wait, !state.isSettled else { return state }
    do throws(EnrollError) {
      try self.wait(until: deadline, cancellation) { () throws(EnrollError) in
        state = try decidedState(until: deadline, cancellation: cancellation)
        return state.isSettled
      }
    } catch {
      guard error.code == .deadlineExceeded, case .authenticating(_, let step) = state else { throw error }
      throw EnrollError(
        .deadlineExceeded,
        "a sign-in is in progress (step \(step.rawValue)) and did not end before the timeout")
    }
    return state
  }

  private func decidedState(
    until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    let standing = try CallTimeout.until(deadline, by: clock, cancellation: cancellation) {
      () throws(EnrollError) in
      try engine.standing()
    }
    switch standing {
    case .known(let state): return state
    case .needsRenewal:
      _ = try access(minimumLifetimeSeconds: 0, until: deadline, cancellation: cancellation)
      guard case .needsCheck = try engine.standing() else { return engine.state }
      return try checked(until: deadline, cancellation: cancellation)
    case .needsCheck: return try checked(until: deadline, cancellation: cancellation)
    }
  }

  private func checked(
    until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    defer { outbox.sendNews() }
    return try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.checkSession(cancellation: cancellation)
    }
  }

  /// Begins a sign-in. With a loopback redirect a listener opens with it, and closes when it is settled (R4).
  /// - Throws: as ``Engine/begin(_:loopbackRedirectURI:cancellation:)``; `.busy` when the loopback port is taken.
  public func begin(
    _ options: SignInOptions, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    try requireOpen()
    try waitForPlatform(until: deadline, cancellation)
    defer { outbox.sendNews() }
    return try engine.reporting { () throws(EnrollError) in
      try begun(options, until: deadline, cancellation: cancellation)
    }
  }

  private func begun(
    _ options: SignInOptions, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      guard configuration.usesLoopbackRedirect, options.redirects(configuration) else {
        try engine.settleAbandoned { LoopbackAddress.isListened(at: $0) }
        return try engine.begin(options, cancellation: cancellation)
      }
      try freeConfiguredPort(until: deadline, cancellation)
      let listener = try LoopbackListener(
        redirectURI: configuration.redirectURI, look: configuration.returnPage)
      do throws(EnrollError) {
        // Not before: an earlier sign-in at a configured port is listened for here from now on.
        try engine.settleAbandoned { LoopbackAddress.isListened(at: $0) }
        let begun = try engine.begin(
          options, loopbackRedirectURI: listener.redirectURI, cancellation: cancellation)
        try listen(on: listener, for: begun)
        return begun
      } catch {
        listener.close()
        throw error
      }
    }
  }

  /// Takes a redirect URL back, from whatever process, and carries its transaction to its end.
  /// - Parameter transactionID: the transaction that the host takes it for; needed only for a return without `state`
  ///   when several are pending (R6).
  /// - Returns: the state G or, without confirmation, H.
  /// - Throws: why the URL settles nothing (``Engine/resume(_:cancellation:)``), or why its transaction failed: the
  ///   state is F then, or the session beside which it ran.
  public func resume(
    _ url: String, transactionID: TransactionID? = nil, until deadline: Instant,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    try waitForPlatform(until: deadline, cancellation)
    return try remember(
      try settlement(of: url, transactionID: transactionID, until: deadline, cancellation: cancellation))
  }

  private func settlement(
    of url: String, transactionID: TransactionID? = nil, goesOn: Bool = false, until deadline: Instant,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Engine.Settlement {
    try followed(until: deadline, cancellation) { [self] cancellation throws(EnrollError) in
      try resumed(url, transactionID, isReported: true, goesOn: goesOn, cancellation)
    } afterwards: { [self] settlement in
      if settlement.nextURL == nil { _ = try? remember(settlement) }
    }
  }

  /// Takes the one-time code that the user typed (flows.md §6).
  /// - Returns: the state G or, without confirmation, H.
  /// - Throws: `.codeRejected` when it is wrong, and the transaction waits for another; as
  ///   ``Engine/submitCode(_:transactionID:cancellation:)``, or why the transaction failed.
  public func submitCode(
    _ code: Secret, transactionID: TransactionID, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    let settlement = try followed(until: deadline, cancellation) {
      [engine] cancellation throws(EnrollError) in
      try engine.submitCode(code, transactionID: transactionID, cancellation: cancellation)
    } afterwards: { [self] settlement in
      _ = try? remember(settlement)
    }
    return try remember(settlement)
  }

  /// Waits until a transaction is settled: by its loopback redirect, by ``resume(_:until:cancellation:)`` on another
  /// thread, or by another process. For a device transaction it asks the provider, as often as that allows. It also
  /// answers once another transaction of the account brought tokens: of two attempts in one browser, some providers
  /// resume the older one, and the newer never gets an answer.
  /// - Throws: `.notFound` for an unknown transaction, `.transactionExpired`, what made it fail; `.deadlineExceeded`: the
  ///   transaction goes on waiting.
  public func awaitTransaction(
    _ transactionID: TransactionID, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    do throws(EnrollError) {
      return try settledState(of: transactionID, until: deadline, cancellation: cancellation)
    } catch {
      guard error.code == .deadlineExceeded else { throw error }
      if case .exchanging? = try? engine.transactionStatus(transactionID) {
        throw EnrollError(
          .deadlineExceeded,
          "the user came back, and the tokens did not arrive in time; await the transaction again, or begin the sign-in "
            + "again where the process that took the redirect has ended")
      }
      throw EnrollError(
        .deadlineExceeded,
        "the timeout passed before the user returned; the transaction is still pending, so await it again or cancel it. If "
          + "the browser shows an error page, compare client id and redirect URI with those registered at the provider"
      )
    }
  }

  private func settledState(
    of transactionID: TransactionID, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    var state: RegistrationState?
    var exchangeEnds: Instant?
    try wait(until: deadline, cancellation) { () throws(EnrollError) in
      if loopbacks.withLock({ $0.isAnswering(transactionID) }) { return false }
      // Looked at first: a poll of ours says how it settled the transaction before it ends.
      let isPolled = devicePolls.withLock { $0.isUnderWay(transactionID) }
      if let settlement = settlements.withLock({ $0[transactionID] }) {
        state = try outcome(of: settlement)
        return true
      }
      if isPolled { return false }
      switch try engine.transactionStatus(transactionID) {
      case .pending, .cancelled:
        if try engine.isOvertaken(transactionID) {
          // Its browser has its page first: a program may end with this answer.
          if loopbacks.withLock({ $0.isAnsweringAny }) { return false }
          state = try decidedState(until: deadline, cancellation: cancellation)
          return true
        }
        try pollDevice(transactionID)
        return false
      case .exchanging:
        // Perhaps by another process, which may have died meanwhile: nobody else may send the code (R15).
        let end = exchangeEnds ?? clock.instant().advanced(bySeconds: Engine.exchangeSeconds)
        exchangeEnds = end
        guard clock.instant().since(end) < 0 else { throw Engine.exchangeDied }
        return false
      case .succeeded:
        state = try decidedState(until: deadline, cancellation: cancellation)
        return true
      case .failed:
        throw EnrollError(
          .alreadySettled, "the transaction failed in another process, or a sign-out ended it")
      }
    }
    return state ?? engine.state
  }

  /// Takes every URL that reaches the app: a redirect, a logout callback, an activation link, a fallback link, or none of
  /// these.
  /// - Throws: as ``resume(_:until:cancellation:)`` and ``handleLink(_:until:cancellation:)``, but `.unsolicited` and
  ///   `.redirectMismatch` are answers, and so is a fallback's `.loginRequired` and its kin.
  public func handle(
    _ url: String, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HandledURL {
    try requireOpen()
    do throws(EnrollError) {
      try bounded(until: deadline, cancellation) { _ throws(EnrollError) in try engine.finishLogout(url) }
      return .logoutFinished
    } catch {
      guard error.code == .unsolicited || error.code == .redirectMalformed else { throw error }
    }
    try waitForPlatform(until: deadline, cancellation)
    switch try linkOutcome(of: url, until: deadline, cancellation: cancellation) {
    case .begun(let begun): return .begun(begun)
    case .refused(let refusal): return .refused(refusal)
    case nil: break
    }
    let settlement: Engine.Settlement
    do throws(EnrollError) {
      settlement = try self.settlement(of: url, goesOn: true, until: deadline, cancellation: cancellation)
    } catch {
      guard error.code == .unsolicited || error.code == .redirectMismatch else { throw error }
      return .unsolicited
    }
    if let next = settlement.nextURL {
      return .begun(try engine.transaction(settlement.transactionID, goingOnAt: next))
    }
    guard let begun = try signIn(after: settlement, until: deadline, cancellation: cancellation) else {
      return .registration(try remember(settlement))
    }
    _ = try? remember(settlement)
    return .begun(begun)
  }

  /// G to H, as ``Engine/confirm(_:cancellation:)``.
  public func confirm(
    _ transactionID: TransactionID? = nil, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    defer {
      tokens.forget()
      outbox.send()
    }
    return try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.confirm(transactionID, cancellation: cancellation)
    }
  }

  /// Back to the choices; provisional tokens are revoked and cleared, a confirmed session survives.
  /// - Parameter transactionID: as of ``Engine/retry(_:cancellation:)``.
  public func retry(
    _ transactionID: TransactionID? = nil, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    defer { tokens.forget() }
    return try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.retry(transactionID, cancellation: cancellation)
    }
  }

  /// Whether the tokens that wait for confirmation would take the place of a session that is not known to be the same user's.
  public func waitsBesideAnotherUser() throws(EnrollError) -> Bool {
    try requireOpen()
    return try engine.waitsBesideAnotherUser()
  }

  /// The user gave up: a hint, a late valid redirect still wins.
  public func cancel(_ transactionID: TransactionID?) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    let state = try engine.cancel(transactionID: transactionID)
    stopListening(for: transactionID)
    return state
  }

  /// The host could not open the other app's link: its transaction is over.
  /// - Returns: the state F, or the session beside which the transaction ran.
  /// - Throws: as ``Engine/otherAppMissing(transactionID:)``.
  public func otherAppMissing(_ transactionID: TransactionID) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    let settlement = try engine.otherAppMissing(transactionID: transactionID)
    settlements.withLock { $0.add(settlement) }
    hub.announceChange()
    return engine.state
  }

  /// Empties local state; no server is told.
  public func clear() throws(EnrollError) -> RegistrationState {
    try requireOpen()
    defer { tokens.forget() }
    stopListening(for: nil)
    return try engine.clear()
  }

  /// Keeps how a transaction ended for whoever waits for it.
  func remember(_ settlement: Engine.Settlement) throws(EnrollError) -> RegistrationState {
    tokens.forget()
    settlements.withLock { $0.add(settlement) }
    // Tokens that were refused or replaced are revoked.
    outbox.send()
    hub.announceChange()
    return try outcome(of: settlement)
  }

  private func outcome(of settlement: Engine.Settlement) throws(EnrollError) -> RegistrationState {
    switch settlement.ending {
    case .succeeded(let state): return state
    case .failed(let error): throw error
    }
  }
}

/// How the last transactions of this process ended, for those who await them.
struct Settlements: Sendable {
  private var known: [Engine.Settlement] = []

  subscript(transactionID: TransactionID) -> Engine.Settlement? {
    known.first { $0.transactionID == transactionID }
  }

  mutating func add(_ settlement: Engine.Settlement) {
    known.append(settlement)
    if known.count > Engine.transactionLimit { known.removeFirst() }
  }
}
