// Logging out: local tokens go first, then the servers are told; what they could not be told is queued
// (flows.md §5, RFC 7009, OpenID Connect RP-Initiated Logout). Network failure never keeps local tokens alive.

import EnrollCrypto

extension Engine {
  /// Logouts whose callback is still awaited, per account; the oldest gives way.
  static let pendingLogoutLimit = 8
  /// A logout callback is known for this long.
  static let logoutSeconds: Int64 = 600

  /// Erases the session, revokes its tokens, and makes the URL at which the browser ends the provider's own session.
  /// - Parameter localOnly: tells no server anything.
  /// - Returns: the `end_session` URL to open; nil when the provider announces none or cannot be asked now, or with
  ///   `localOnly`.
  /// - Throws: store errors. The session is gone when it returns.
  public func beginLogout(localOnly: Bool, cancellation: (any Cancellation)?) throws(EnrollError) -> String? {
    let dropped = try eraseForLogout()
    try apply(.cleared)
    guard !localOnly else {
      notify(.logoutFinished)
      return nil
    }
    return try tellOfLogout(dropped, cancellation: cancellation)
  }

  /// As a logout, and the device is forgotten too: pending transactions are cleared, so that no late redirect signs
  /// anybody in, and the next use makes another installation id (flows.md §5, §7).
  /// - Returns: the `end_session` URL to open, as ``beginLogout(localOnly:cancellation:)`` does.
  /// - Throws: store errors. The session is gone when it returns.
  public func deregister(cancellation: (any Cancellation)?) throws(EnrollError) -> String? {
    let dropped = try eraseForLogout(forgettingTransactions: true)
    try apply(.cleared)
    try store.resetInstallationID()
    return try tellOfLogout(dropped, cancellation: cancellation)
  }

  /// Forgets the installation id: the next use makes another.
  public func resetInstallationID() throws(EnrollError) { try store.resetInstallationID() }

  private func tellOfLogout(
    _ dropped: [TokenSet], cancellation: (any Cancellation)?
  ) throws(EnrollError) -> String? {
    let isOfIssuer = dropped.first?.source != .backend
    let metadata = isOfIssuer ? try? provider.metadata(cancellation: cancellation) : nil
    for tokens in dropped { revokeLater(tokens) }
    sendOutbox(cancellation: cancellation)
    guard let tokens = dropped.first, let url = try endSession(of: tokens, metadata: metadata) else {
      notify(.logoutFinished)
      return nil
    }
    return url
  }

  /// - Returns: the tokens that are gone, the session's own first.
  private func eraseForLogout(forgettingTransactions: Bool = false) throws(EnrollError) -> [TokenSet] {
    var dropped: [TokenSet] = []
    let unsaved = memory.withLock { $0.unsaved.map { [$0.tokens] } ?? [] }
    try store.update(account) { record throws(EnrollError) in
      dropped = [record.confirmed, record.provisional].compactMap { $0 }
      // What could not be stored is the session's all the same.
      if record.confirmed != nil { dropped += unsaved }
      record.eraseSession()
      record.asksForLogin = true
      if forgettingTransactions { record.transactions = [] } else { record.dismissOpenTransactions() }
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
    if let state = request.state, let redirectURI = request.redirectURI {
      let pending = PendingLogout(state: state, redirectURI: redirectURI, began: clock.wallTime())
      try store.update(account) { record throws(EnrollError) in
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

  /// Tells the server to forget the session's tokens, and forgets them here; the provider's own session in the
  /// browser stays.
  public func revoke(cancellation: (any Cancellation)?) throws(EnrollError) {
    let dropped = try eraseForLogout()
    try apply(.cleared)
    _ = try? provider.metadata(cancellation: cancellation)
    for tokens in dropped { revokeLater(tokens) }
    sendOutbox(cancellation: cancellation)
  }

  /// Queues the revocation of a token set; ``sendOutbox(cancellation:)`` sends it.
  func revokeLater(_ tokens: TokenSet) {
    // A back end's session token means nothing to the issuer, and must not be shown to it.
    guard tokens.source == .issuer else { return }
    // The refresh token first: some servers want the access token alive, as the bearer of that request.
    if let token = tokens.refreshToken {
      revokeLater(
        token, hint: "refresh_token", bearer: tokens.accessToken, dpopKey: tokens.proofKey)
    }
    revokeLater(
      tokens.accessToken, hint: "access_token", bearer: tokens.accessToken, dpopKey: tokens.proofKey)
  }

  /// Queues the revocation of one token, where the issuer has an endpoint for that.
  func revokeLater(_ token: Secret, hint: String, bearer: Secret?, dpopKey: DPoPKey? = nil) {
    let endpoint = provider.cachedMetadata?.revocationEndpoint
    if provider.cachedMetadata != nil, endpoint == nil { return }
    let entry = OutboxEntry(
      issuer: configuration.issuer, endpoint: endpoint,
      message: .revocation(
        .init(clientID: configuration.clientID, token: token, hint: hint, bearer: bearer, dpopKey: dpopKey)),
      queued: clock.wallTime())
    _ = try? store.updateOutbox { outbox throws(EnrollError) in outbox.append(entry) }
  }
}
