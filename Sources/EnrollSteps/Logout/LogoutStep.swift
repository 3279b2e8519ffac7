// Logout: the messages to the servers are queued, the local tokens are erased, then the messages are sent (flows.md §5,
// RFC 7009, OpenID Connect RP-Initiated Logout). The local tokens are erased even if the network or the outbox fails.

import EnrollCrypto
import EnrollJSON
public import EnrollRules

/// Ends the session, here and at the servers.
public final class LogoutStep: StateChangingStep {
  let context: EngineContext
  let machine: StateMachine
  private let renewals: RenewalProgress
  private let unsaved: UnsavedRenewal
  private let checkProgress: CheckProgress
  private let outbox: OutboxStep
  private let revocations: RevocationStep
  private let backEnd: BackEndStep

  init(
    _ context: EngineContext, machine: StateMachine, renewals: RenewalProgress, unsaved: UnsavedRenewal,
    checkProgress: CheckProgress, outbox: OutboxStep, revocations: RevocationStep, backEnd: BackEndStep
  ) {
    self.context = context
    self.machine = machine
    self.renewals = renewals
    self.unsaved = unsaved
    self.checkProgress = checkProgress
    self.outbox = outbox
    self.revocations = revocations
    self.backEnd = backEnd
  }

  /// The maximum number of logouts of an account that wait for their callback. One more logout replaces the oldest of
  /// them.
  static let pendingLogoutLimit = 8
  /// For how many seconds after a logout its callback is accepted.
  static let logoutSeconds: Int64 = 600

  /// Erases the session, revokes its tokens, and makes the URL at which the browser ends the provider's own session. If
  /// the browser will return to the host, the revocation waits until it has returned (``finishLogout(_:)``), but at
  /// most for ``OutboxStep/logoutWaitSeconds``: an earlier revocation might end the session that the browser has to
  /// find at the provider. A logout also ends pending transactions: tokens that arrive later are revoked, not stored
  /// (R35).
  /// - Parameter localOnly: whether to send nothing to any server.
  /// - Returns: a result without a URL if the provider announces no such URL, if its metadata is unavailable now, or
  ///   with `localOnly`.
  /// - Throws: errors of the store. The session is erased when the call returns.
  public func beginLogout(localOnly: Bool, cancellation: (any Cancellation)?) throws(EnrollError) -> SignOut {
    // Whether the revocations wait for the browser must be decided before the URL is known: otherwise this process
    // might end first, or another process might send the queued revocations.
    let waits = !localOnly && configuration.postLogoutRedirectURI != nil
    let dropped = try eraseForLogout(tellsProvider: !localOnly, awaitsReturn: waits)
    try apply(.cleared)
    guard !localOnly else {
      notify(.logoutFinished)
      return SignOut()
    }
    return try tellOfLogout(dropped, awaitsReturn: waits && !dropped.isEmpty, cancellation: cancellation)
  }

  /// Logs out and forgets the device, that is, erases pending transactions and the installation id; at the next use
  /// EnrollKit makes another id (flows.md §5, §7). No revocation waits for the browser, because EnrollKit may never run
  /// here again.
  /// - Returns: as ``beginLogout(localOnly:cancellation:)``.
  /// - Throws: errors of the store. The session is erased when the call returns.
  public func deregister(cancellation: (any Cancellation)?) throws(EnrollError) -> SignOut {
    let dropped = try eraseForLogout(tellsProvider: true, forgettingTransactions: true)
    try apply(.cleared)
    try store.resetInstallationID()
    return try tellOfLogout(dropped, waited: outbox.endLogoutWait(), cancellation: cancellation)
  }

  /// Deletes the installation id. At the next use EnrollKit makes another id.
  public func resetInstallationID() throws(EnrollError) { try store.resetInstallationID() }

  /// Revokes the session's tokens at the server, and erases them here. The provider's own session in the browser stays.
  /// Call this if you do not open the URL of a logout: revocations that wait for the browser's return are then sent at
  /// once.
  /// - Returns: a result without a URL.
  public func revoke(cancellation: (any Cancellation)?) throws(EnrollError) -> SignOut {
    let dropped = try eraseForLogout(tellsProvider: true)
    try apply(.cleared)
    return SignOut(
      providerTold: tell(of: dropped, waited: outbox.endLogoutWait(), cancellation: cancellation))
  }

  /// Sends the messages about a logout, and makes the URL for the browser.
  /// - Parameters:
  ///   - awaitsReturn: whether the messages wait until the browser returns. They wait only if the browser has a logout
  ///     page to open.
  ///   - waited: messages of an earlier logout, which no longer wait for the browser.
  private func tellOfLogout(
    _ dropped: [UnkeptTokens], awaitsReturn: Bool = false, waited: [OutboxEntry] = [],
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> SignOut {
    // The metadata that is fetched here is used for the revocations, and for the URL at which the browser ends the
    // provider's session.
    if dropped.contains(where: { $0.tokens.source == .issuer }) {
      _ = try? provider.metadata(cancellation: cancellation)
    }
    let metadata = dropped.first?.tokens.source == .bff ? nil : provider.cachedMetadata
    var awaitsReturn = awaitsReturn
    if awaitsReturn, !isReturnExpected(metadata) {
      outbox.endLogoutWait()
      awaitsReturn = false
    }
    var answer = SignOut(providerTold: tell(of: dropped, waited: waited, cancellation: cancellation))
    guard let tokens = dropped.first?.tokens,
      let request = try endSessionRequest(of: tokens, metadata: metadata, cancellation)
    else {
      notify(.logoutFinished)
      return answer
    }
    answer.url = request.url
    if !keepPending(request), awaitsReturn {
      outbox.endLogoutWait()
      answer.providerTold = tell(of: dropped, cancellation: cancellation)
    }
    return answer
  }

  /// Whether messages can wait for the browser's return: the provider accepts revocations, and has a logout page that
  /// the browser opens.
  private func isReturnExpected(_ metadata: ProviderMetadata?) -> Bool {
    metadata?.revocationEndpoint != nil
      && EndSessionRequest.isOffered(configuration: configuration, metadata: metadata)
  }

  /// Revokes tokens that were erased here and whose messages are queued.
  /// - Parameter waited: messages of an earlier logout, which are sent as well.
  /// - Returns: nil if there are no messages to send.
  private func tell(
    of dropped: [UnkeptTokens], waited: [OutboxEntry] = [], cancellation: (any Cancellation)?
  ) -> ProviderTold? {
    guard !dropped.isEmpty || !waited.isEmpty else { return nil }
    let tried = outbox.deliver(
      asked: dropped.flatMap { $0.tokens.revocable } + waited.compactMap { $0.revokedToken },
      cancellation: cancellation)
    let earlier = outbox.delivered
    // The tokens whose results count: if one of them is revoked, its session has ended.
    let tokens =
      dropped.map { ($0.tokens.refreshToken ?? $0.tokens.accessToken, $0.tokens.source) }
      + Self.deciding(waited).map { ($0, .issuer) }
    var told: ProviderTold?
    for (token, source) in tokens {
      let delivery = (tried + earlier.reversed()).first { $0.entry.revokes(token) }?.delivery
      told = self.told(of: token, from: source, delivery).joined(told)
    }
    return told
  }

  /// The tokens in these messages whose revocation ends their session: the refresh token of a session, or its access
  /// token if the session has no refresh token.
  private static func deciding(_ waited: [OutboxEntry]) -> [Secret] {
    let refreshing = waited.filter { entry in
      guard case .revocation(let revocation) = entry.message else { return false }
      return ASCII.equals(revocation.hint, "refresh_token")
    }
    return (refreshing.isEmpty ? waited : refreshing).compactMap { $0.revokedToken }
  }

  private func told(of token: Secret, from source: TokenSet.Source, _ delivery: OutboxEntry.Delivery?)
    -> ProviderTold
  {
    // A back end's session token has no meaning for the issuer, and must not be sent to the issuer.
    guard source == .issuer else {
      return .notPossible(reason: "a back end's session token cannot be revoked at the provider")
    }
    switch delivery {
    case .done: return .told
    case .refused(let reason): return .notPossible(reason: reason)
    case .unreached, .later, nil:
      guard outbox.isUnqueued(token) else { return .queued }
      return .notPossible(
        reason: "the provider did not take the revocation, and the store could not keep it for another try")
    }
  }

  /// Erases the tokens and everything that belongs to them from the record, after it has put the messages about these
  /// tokens into the outbox.
  /// - Returns: the erased tokens, the session's own first.
  private func eraseForLogout(
    tellsProvider: Bool, awaitsReturn: Bool = false, forgettingTransactions: Bool = false
  ) throws(EnrollError) -> [UnkeptTokens] {
    var dropped: [UnkeptTokens] = []
    let unsavedTokens = unsaved.renewed?.tokens
    // Tokens that could not be stored belong to the session, too.
    func leave(_ record: AccountRecord) {
      dropped = [
        UnkeptTokens(record.confirmed, record.profile),
        UnkeptTokens(record.provisional, record.provisionalProfile),
        record.confirmed == nil ? nil : UnkeptTokens(unsavedTokens, record.profile),
      ].compactMap { $0 }
      guard tellsProvider else { return }
      let messages = dropped.flatMap { revocations.messages(revoking: $0.tokens, of: $0.user) }
      outbox.queue(awaitsReturn ? outbox.awaitingLogout(messages) : messages)
    }
    do throws(EnrollError) {
      try store.update(account) { record throws(EnrollError) in
        leave(record)
        record.eraseSession()
        record.asksForLogin = true
        if forgettingTransactions {
          record.transactions = []
          (record.narrowsSessions, record.refusesOfflineAccess) = (false, false)
          (record.offlineConsent, record.keepsAccessTokens) = (nil, nil)
        } else {
          record.settleTransactions()
        }
      }
    } catch {
      // If the disk is full, no new record can be stored. The user must not stay signed in, so the old record is
      // removed; a removal needs no space.
      guard error.code == .storeFull || error.code == .storeIO else { throw error }
      if let record = try store.read(account) { leave(record) }
      guard (try? store.remove(account)) != nil else { throw error }
    }
    forgetSession()
    return dropped
  }

  /// Deletes only the local state: no server gets a message (flows.md §5).
  public func clear() throws(EnrollError) -> RegistrationState {
    try store.update(account) { record throws(EnrollError) in
      record.eraseSession()
      record.transactions = []
    }
    forgetSession()
    return try apply(.cleared)
  }

  /// Forgets the backoff and the result of the registration check, so that the next session starts without them. Call
  /// this after the session was erased.
  private func forgetSession() {
    renewals.endBackoff()
    checkProgress.forget()
    machine.forgetBefore()
    unsaved.forget()
    backEnd.dropProfile()
  }

  private func endSessionRequest(
    of tokens: TokenSet, metadata: ProviderMetadata?, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> EndSessionRequest? {
    // A hint that the provider cannot verify is not sent: the provider would show an error page, and the provider's
    // session would continue.
    let hint = tokens.idToken.flatMap { token in
      metadata == nil || provider.mayHaveKey(of: token, cancellation: cancellation) ? token : nil
    }
    return EndSessionRequest.make(
      configuration: configuration, metadata: metadata, idTokenHint: hint, random: try random.bytes(32))
  }

  /// - Returns: whether the browser's return will be recognized as the return from this logout. If not, the return
  ///   will be refused as unsolicited, but the session has ended in both cases.
  private func keepPending(_ request: EndSessionRequest) -> Bool {
    guard let redirectURI = request.redirectURI else { return false }
    let pending = PendingLogout(state: request.state, redirectURI: redirectURI, began: clock.wallTime())
    do throws(EnrollError) {
      try store.update(account) { record throws(EnrollError) in
        record.logouts.removeAll { pending.began.since($0.began) > Self.logoutSeconds }
        if record.logouts.count >= Self.pendingLogoutLimit { record.logouts.removeFirst() }
        record.logouts.append(pending)
      }
      return true
    } catch {
      return false
    }
  }

  /// Processes the redirect that follows a logout: finds the logout by the redirect's `state`, and reports the end of
  /// the logout once. The revocations that waited for the redirect may then be sent
  /// (``OutboxStep/sendOutbox(cancellation:)``).
  /// - Throws: `.redirectMalformed`; `.unsolicited` if no logout of this account waits for this redirect. If this
  ///   throws, nothing has changed.
  public func finishLogout(_ url: String) throws(EnrollError) {
    let callback = try LogoutCallback(parsing: url, configured: configuration.redirectURI)
    var isOurs = false
    try store.update(account) { record throws(EnrollError) in
      guard let index = callback.index(in: record.logouts) else { return }
      record.logouts.remove(at: index)
      isOurs = true
    }
    guard isOurs else {
      throw EnrollError(.unsolicited, "no logout of this account waits for this URL")
    }
    let tokens = outbox.endLogoutWait().compactMap { $0.revokedToken }
    outbox.noteSignedOut(tokens)
    notify(.logoutFinished)
  }
}

extension ProviderDirectory {
  /// Whether the key that signed an id_token may be one of the provider's current keys.
  fileprivate func mayHaveKey(of idToken: Secret, cancellation: (any Cancellation)?) -> Bool {
    guard let token = try? JWS(parsing: idToken), let keys = try? keys(cancellation: cancellation).0 else {
      return true
    }
    return !keys.candidates(keyID: token.keyID, algorithm: token.algorithm).isEmpty
  }
}
