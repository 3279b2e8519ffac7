// Logging out: the messages to the servers are queued, the local tokens go, then the messages are sent (flows.md §5, RFC 7009,
// OpenID Connect RP-Initiated Logout). Neither the network nor the outbox keeps local tokens alive.

import EnrollCrypto
import EnrollJSON

extension Engine {
  /// Logouts whose callback is still awaited, per account; the oldest gives way.
  static let pendingLogoutLimit = 8
  /// A logout callback is known for this long.
  static let logoutSeconds: Int64 = 600

  /// Erases the session, revokes its tokens, and makes the URL at which the browser ends the provider's own session.
  /// Ends transactions that were begun before: tokens that arrive later are revoked, not stored (R35).
  /// - Parameter localOnly: tells no server anything.
  /// - Returns: no URL when the provider announces none or cannot be asked now, or with `localOnly`.
  /// - Throws: store errors. The session is gone when it returns.
  public func beginLogout(localOnly: Bool, cancellation: (any Cancellation)?) throws(EnrollError) -> SignOut {
    let dropped = try eraseForLogout(tellsProvider: !localOnly)
    try apply(.cleared)
    guard !localOnly else {
      notify(.logoutFinished)
      return SignOut()
    }
    return try tellOfLogout(dropped, cancellation: cancellation)
  }

  /// As a logout, and the device is forgotten too: what was begun before is not even known any more, and the next use
  /// makes another installation id (flows.md §5, §7).
  /// - Returns: as ``beginLogout(localOnly:cancellation:)``.
  /// - Throws: store errors. The session is gone when it returns.
  public func deregister(cancellation: (any Cancellation)?) throws(EnrollError) -> SignOut {
    let dropped = try eraseForLogout(tellsProvider: true, forgettingTransactions: true)
    try apply(.cleared)
    try store.resetInstallationID()
    return try tellOfLogout(dropped, cancellation: cancellation)
  }

  /// Forgets the installation id: the next use makes another.
  public func resetInstallationID() throws(EnrollError) { try store.resetInstallationID() }

  /// Tells the server to forget the session's tokens, and forgets them here; the provider's own session in the
  /// browser stays.
  /// - Returns: no URL.
  public func revoke(cancellation: (any Cancellation)?) throws(EnrollError) -> SignOut {
    let dropped = try eraseForLogout(tellsProvider: true)
    try apply(.cleared)
    return SignOut(providerTold: tell(of: dropped, cancellation: cancellation))
  }

  private func tellOfLogout(
    _ dropped: [UnkeptTokens], cancellation: (any Cancellation)?
  ) throws(EnrollError) -> SignOut {
    var answer = SignOut(providerTold: tell(of: dropped, cancellation: cancellation))
    if let tokens = dropped.first?.tokens {
      answer.url = try endSession(
        of: tokens, metadata: tokens.source == .bff ? nil : provider.cachedMetadata)
    }
    if answer.url == nil { notify(.logoutFinished) }
    return answer
  }

  /// Has the server forget tokens that are gone here, and whose messages wait.
  /// - Returns: nil when there are none.
  private func tell(of dropped: [UnkeptTokens], cancellation: (any Cancellation)?) -> ProviderTold? {
    // Also for the URL at which the browser ends the provider's session.
    if dropped.contains(where: { $0.tokens.source == .issuer }) {
      _ = try? provider.metadata(cancellation: cancellation)
    }
    let tried = deliver(asked: dropped.map { $0.tokens }, cancellation: cancellation)
    var told: ProviderTold?
    for tokens in dropped.map({ $0.tokens }) {
      // The token on which the session depends.
      let token = tokens.refreshToken ?? tokens.accessToken
      let earlier = memory.withLock { $0.delivered }
      let delivery = (tried + earlier.reversed()).first { $0.entry.revokes(token) }?.delivery
      told = self.told(of: token, from: tokens.source, delivery).joined(told)
    }
    return told
  }

  private func told(of token: Secret, from source: TokenSet.Source, _ delivery: Delivery?) -> ProviderTold {
    // A back end's session token means nothing to the issuer, and must not be shown to it.
    guard source == .issuer else {
      return .notPossible(reason: "a back end's session token cannot be revoked at the provider")
    }
    switch delivery {
    case .done: return .told
    case .refused(let reason): return .notPossible(reason: reason)
    case .unreached, .later, nil:
      guard memory.withLock({ $0.unqueued.contains { $0.revokes(token) } }) else { return .queued }
      return .notPossible(
        reason: "the provider did not take the revocation, and the store could not keep it for another try")
    }
  }

  /// Tokens and what belongs to them leave the record; the messages about them are in the outbox before that.
  /// - Returns: the tokens that are gone, the session's own first.
  private func eraseForLogout(
    tellsProvider: Bool, forgettingTransactions: Bool = false
  ) throws(EnrollError) -> [UnkeptTokens] {
    var dropped: [UnkeptTokens] = []
    let unsaved = memory.withLock { $0.unsaved?.tokens }
    // Tokens that could not be stored belong to the session, too.
    func leave(_ record: AccountRecord) {
      dropped = [
        UnkeptTokens(record.confirmed, record.profile),
        UnkeptTokens(record.provisional, record.provisionalProfile),
        record.confirmed == nil ? nil : UnkeptTokens(unsaved, record.profile),
      ].compactMap { $0 }
      if tellsProvider { queue(dropped.flatMap { revocations(of: $0.tokens, user: $0.user) }) }
    }
    do throws(EnrollError) {
      try store.update(account) { record throws(EnrollError) in
        leave(record)
        record.eraseSession()
        record.asksForLogin = true
        if forgettingTransactions {
          record.transactions = []
          (record.narrowsSessions, record.refusesOfflineAccess) = (false, false)
        } else {
          record.settleTransactions()
        }
      }
    } catch {
      // A full disk takes no new record, and keeps nobody signed in: removing the old one needs no space.
      guard error.code == .storeFull || error.code == .storeIO else { throw error }
      if let record = try store.read(account) { leave(record) }
      guard (try? store.remove(account)) != nil else { throw error }
    }
    forgetSession()
    return dropped
  }

  private func endSession(of tokens: TokenSet, metadata: ProviderMetadata?) throws(EnrollError) -> String? {
    guard
      let request = EndSessionRequest.make(
        configuration: configuration, metadata: metadata, idTokenHint: tokens.idToken,
        random: try random.bytes(32))
    else { return nil }
    if let redirectURI = request.redirectURI {
      let pending = PendingLogout(state: request.state, redirectURI: redirectURI, began: clock.wallTime())
      // Without it the callback counts as unsolicited; the session has ended all the same.
      _ = try? store.update(account) { record throws(EnrollError) in
        record.logouts.removeAll { pending.began.since($0.began) > Self.logoutSeconds }
        if record.logouts.count >= Self.pendingLogoutLimit { record.logouts.removeFirst() }
        record.logouts.append(pending)
      }
    }
    return request.url
  }

  /// The logout callback came back: matched by its state, reported once.
  /// - Throws: `.redirectMalformed`; `.unsolicited` when no logout of ours waits for it; nothing changed then.
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
    notify(.logoutFinished)
  }
}
