// The client's calls for the user's identity, the account's data, the PIN and logout. A call with a PIN takes nearly a
// second on purpose: this makes it expensive to guess a PIN.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
public import EnrollJSON
import EnrollPosix

extension Client {
  /// - Throws: `.notFound` if no user is signed in.
  public func profile() throws(EnrollError) -> JSONObject {
    try requireOpen()
    return try engine.identity.profile()
  }

  /// Asks the provider's userinfo endpoint with a valid token. A 401 is handled as in
  /// ``rejected(_:for:until:cancellation:)``: the token is renewed, and the request is sent once more. If the endpoint
  /// also refuses the new token, the endpoint accepts no token of this session, but the session continues.
  /// - Throws: the error that says why there is no access token, if there is none (then no request was sent);
  ///   `.rejected` after the second 401.
  public func userinfo(until deadline: Instant, cancellation: (any Cancellation)?) throws(EnrollError)
    -> JSONObject
  {
    try requireOpen()
    guard engine.tokens.hasSession else { return try askUserinfo(until: deadline, cancellation) }
    let token = try access(minimumLifetimeSeconds: 0, until: deadline, cancellation: cancellation).token()
    do throws(EnrollError) {
      return try askUserinfo(until: deadline, cancellation)
    } catch {
      guard error.httpStatus == 401 else { throw error }
      let next = try rejected(token.value, until: deadline, cancellation: cancellation)
        .token()
      guard next.value != token.value else { throw error }
    }
    do throws(EnrollError) {
      return try askUserinfo(until: deadline, cancellation)
    } catch {
      guard error.httpStatus == 401 else { throw error }
      throw EnrollError(
        .rejected,
        "the userinfo endpoint refused the access token, and the one after it: \(error.message)",
        httpStatus: 401, oauthError: error.oauthError, oauthErrorDescription: error.oauthErrorDescription)
    }
  }

  private func askUserinfo(until deadline: Instant, _ cancellation: (any Cancellation)?) throws(EnrollError)
    -> JSONObject
  {
    try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.identity.userinfo(cancellation: cancellation)
    }
  }

  public func readAccount() throws(EnrollError) -> AccountSnapshot {
    try requireOpen()
    return try engine.registration.readAccount()
  }

  /// Erases the session, informs the server, and returns the URL at which the browser ends the provider's session.
  /// - Returns: a result without a URL if the provider has no URL for a logout, or if `localOnly` is true.
  public func beginLogout(
    localOnly: Bool, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> SignOut {
    try requireOpen()
    return try erasingSession(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.logout.beginLogout(localOnly: localOnly, cancellation: cancellation)
    }
  }

  /// Logs out, clears pending transactions and resets the installation id.
  /// - Returns: as ``beginLogout(localOnly:until:cancellation:)``.
  public func deregister(until deadline: Instant, cancellation: (any Cancellation)?) throws(EnrollError)
    -> SignOut
  {
    try requireOpen()
    return try erasingSession(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.logout.deregister(cancellation: cancellation)
    }
  }

  /// Forgets the installation id of the store. The next use makes a new one.
  public func resetInstallation() throws(EnrollError) {
    try requireOpen()
    try engine.logout.resetInstallationID()
  }

  /// Revokes the session's tokens at the server, and erases them here.
  /// - Returns: a result without a URL.
  public func revoke(until deadline: Instant, cancellation: (any Cancellation)?) throws(EnrollError)
    -> SignOut
  {
    try requireOpen()
    return try erasingSession(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.logout.revoke(cancellation: cancellation)
    }
  }

  /// The minimum time for which an erasure waits for the store's lock, even if the caller's deadline has passed. No
  /// save takes longer than this, so the lock becomes free within this time.
  private static var erasureNanoseconds: Int64 { 250_000_000 }

  /// Runs a step that first erases the session, and then sends messages to servers. The deadline can only interrupt
  /// these messages. If another process holds the store's lock beyond the deadline, nothing is erased.
  /// - Throws: `.deadlineExceeded`, `.cancelled`, and the errors of the step.
  private func erasingSession(
    until deadline: Instant, _ cancellation: (any Cancellation)?,
    _ step: (any Cancellation) throws(EnrollError) -> SignOut
  ) throws(EnrollError) -> SignOut {
    defer {
      tokens.forget()
      // The deadline may have interrupted the sending of messages. If the store could not queue such a message, only
      // this process has it, so this process sends the message now.
      if engine.outbox.hasUnqueuedMessages { outbox.send() }
      outbox.sendAfterLogoutWait()
    }
    let flag = CancellationFlag()
    let timer = timers.run(at: deadline) { flag.cancel() }
    let hook = cancellation?.onCancel { flag.cancel() }
    defer {
      if let timer { timers.cancel(timer) }
      if let hook { cancellation?.removeHook(hook) }
    }
    let enough = max(deadline, clock.instant().advanced(byNanoseconds: Self.erasureNanoseconds))
    let answer = try CallTimeout.until(enough, by: clock, cancellation: cancellation) {
      () throws(EnrollError) in
      try step(flag)
    }
    lastSignOut.withLock { $0 = answer }
    return answer
  }

  /// Whether the last sign-out was reported to the provider; nil before the first sign-out, and after a sign-out that
  /// need not be reported.
  public var providerTold: ProviderTold? { lastSignOut.withLock { $0?.providerTold } }

  /// Processes the redirect that follows a logout. A thread of the client then sends the revocation that waited for
  /// this redirect.
  /// - Throws: `.unsolicited` if no logout of this client waits for this redirect.
  public func finishLogout(_ url: String) throws(EnrollError) {
    try requireOpen()
    try engine.logout.finishLogout(url)
    outbox.send()
  }
}

extension Client {
  /// - Throws: as ``PINStep/setPIN(_:)``.
  public func setPIN(_ pin: Secret) throws(EnrollError) {
    try requireOpen()
    defer {
      tokens.forget()
      outbox.sendToBackEnd()
      hub.announceChange()
    }
    try engine.pin.setPIN(pin)
  }

  /// - Throws: as ``PINStep/usePIN(_:to:)``.
  public func usePIN(_ pin: Secret, to change: PINChange) throws(EnrollError) -> PINAnswer {
    try requireOpen()
    defer {
      tokens.forget()
      hub.announceChange()
    }
    return try engine.pin.usePIN(pin, to: change)
  }
}
