// The user's identity, the data kept about the account, the PIN over it, and logging out, through a client. A call
// about the PIN takes a good part of a second: that is what makes guessing dear.

public import EnrollCore
public import EnrollCrypto
public import EnrollJSON
import EnrollPosix

extension Client {
  /// - Throws: `.notFound` when nobody is signed in.
  public func profile() throws(EnrollError) -> JSONObject {
    try requireOpen()
    return try engine.profile()
  }

  /// Asks the provider who the user is, with a token that is valid. A 401 counts as ``rejected(_:for:until:cancellation:)``:
  /// the token is renewed, and the provider is asked once more. An endpoint that refuses the new token as well takes none of
  /// these tokens, which says nothing about the session.
  /// - Throws: what stands in the way of an access token, and nothing was sent then; `.rejected` for the second 401.
  public func userinfo(until deadline: Instant, cancellation: (any Cancellation)?) throws(EnrollError)
    -> JSONObject
  {
    try requireOpen()
    guard engine.hasSession else { return try askUserinfo(until: deadline, cancellation) }
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
        .rejected, "the userinfo endpoint refused the access token, and the one after it", httpStatus: 401)
    }
  }

  private func askUserinfo(until deadline: Instant, _ cancellation: (any Cancellation)?) throws(EnrollError)
    -> JSONObject
  {
    try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.userinfo(cancellation: cancellation)
    }
  }

  public func readAccount() throws(EnrollError) -> AccountSnapshot {
    try requireOpen()
    return try engine.readAccount()
  }

  /// Erases the session, tells the server, and gives the URL at which the browser ends the provider's session.
  /// - Returns: no URL when there is none, or with `localOnly`.
  public func beginLogout(
    localOnly: Bool, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> SignOut {
    try requireOpen()
    return try leaving(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.beginLogout(localOnly: localOnly, cancellation: cancellation)
    }
  }

  /// As a logout; pending transactions are cleared and the installation id is reset too.
  /// - Returns: as ``beginLogout(localOnly:until:cancellation:)``.
  public func deregister(until deadline: Instant, cancellation: (any Cancellation)?) throws(EnrollError)
    -> SignOut
  {
    try requireOpen()
    return try leaving(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.deregister(cancellation: cancellation)
    }
  }

  /// Forgets the installation id of the store: the next use makes another.
  public func resetInstallation() throws(EnrollError) {
    try requireOpen()
    try engine.resetInstallationID()
  }

  /// Tells the server to forget the session's tokens, and forgets them here.
  /// - Returns: no URL.
  public func revoke(until deadline: Instant, cancellation: (any Cancellation)?) throws(EnrollError)
    -> SignOut
  {
    try requireOpen()
    return try leaving(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.revoke(cancellation: cancellation)
    }
  }

  /// A caller without time waits so long for a lock of the store: no save takes longer.
  private static var erasingNanoseconds: Int64 { 250_000_000 }

  /// The session is erased first, and only the servers may have to be told later. Where another process holds the store's lock
  /// beyond the deadline, nothing is erased.
  /// - Throws: `.deadlineExceeded`, `.cancelled`, and what the step throws.
  private func leaving(
    until deadline: Instant, _ cancellation: (any Cancellation)?,
    _ step: (any Cancellation) throws(EnrollError) -> SignOut
  ) throws(EnrollError) -> SignOut {
    defer {
      tokens.forget()
      // The deadline may have ended the sending of a message that only this process knows.
      if engine.hasUnqueuedMessages { outbox.send() }
    }
    let flag = CancellationFlag()
    let timer = timers.run(at: deadline) { flag.cancel() }
    let hook = cancellation?.onCancel { flag.cancel() }
    defer {
      if let timer { timers.cancel(timer) }
      if let hook { cancellation?.removeHook(hook) }
    }
    let enough = max(deadline, clock.instant().advanced(byNanoseconds: Self.erasingNanoseconds))
    let answer = try CallTimeout.until(enough, by: clock, cancellation: cancellation) {
      () throws(EnrollError) in
      try step(flag)
    }
    lastSignOut.withLock { $0 = answer }
    return answer
  }

  /// Whether the provider knows of the last sign-out of this client; nil before the first, and where there was nothing to
  /// tell.
  public var providerTold: ProviderTold? { lastSignOut.withLock { $0?.providerTold } }

  /// The logout callback came back.
  /// - Throws: `.unsolicited` when no logout of ours waits for it.
  public func finishLogout(_ url: String) throws(EnrollError) {
    try requireOpen()
    try engine.finishLogout(url)
  }
}

extension Client {
  /// - Throws: as ``Engine/setPIN(_:)``.
  public func setPIN(_ pin: Secret) throws(EnrollError) {
    try requireOpen()
    defer {
      tokens.forget()
      outbox.sendNews()
      hub.announceChange()
    }
    try engine.setPIN(pin)
  }

  /// - Throws: as ``Engine/usePIN(_:to:)``.
  public func usePIN(_ pin: Secret, to change: PINChange) throws(EnrollError) -> PINAnswer {
    try requireOpen()
    defer {
      tokens.forget()
      hub.announceChange()
    }
    return try engine.usePIN(pin, to: change)
  }
}
