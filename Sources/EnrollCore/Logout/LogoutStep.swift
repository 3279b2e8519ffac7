// Logging out: local tokens go first, then the servers are told; what they could not be told is queued
// (flows.md §5, RFC 7009, OpenID Connect RP-Initiated Logout). Network failure never keeps local tokens alive.

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
    let dropped = try eraseForLogout()
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
    let dropped = try eraseForLogout(forgettingTransactions: true)
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
    let dropped = try eraseForLogout()
    try apply(.cleared)
    return SignOut(providerTold: tell(of: dropped, cancellation: cancellation))
  }

  private func tellOfLogout(
    _ dropped: [TokenSet], cancellation: (any Cancellation)?
  ) throws(EnrollError) -> SignOut {
    var answer = SignOut(providerTold: tell(of: dropped, cancellation: cancellation))
    if let tokens = dropped.first {
      answer.url = try endSession(
        of: tokens, metadata: tokens.source == .bff ? nil : provider.cachedMetadata)
    }
    if answer.url == nil { notify(.logoutFinished) }
    return answer
  }

  /// Has the server forget tokens that are gone here.
  /// - Returns: nil when there are none.
  private func tell(of dropped: [TokenSet], cancellation: (any Cancellation)?) -> ProviderTold? {
    if dropped.contains(where: { $0.source == .issuer }) {
      _ = try? provider.metadata(cancellation: cancellation)
    }
    let queued = dropped.map { revokeLater($0) }
    let tried = deliver(cancellation: cancellation)
    var told: ProviderTold?
    for one in queued {
      switch one {
      case .impossible(let reason): told = ProviderTold.notPossible(reason: reason).joined(told)
      case .entry(let entry):
        switch tried.first(where: { $0.entry.isSame(as: entry) })?.delivery {
        case .done: told = ProviderTold.told.joined(told)
        case .refused(let reason): told = ProviderTold.notPossible(reason: reason).joined(told)
        case .unreached, .later, nil: told = ProviderTold.queued.joined(told)
        }
      }
    }
    return told
  }

  /// - Returns: the tokens that are gone, the session's own first.
  private func eraseForLogout(forgettingTransactions: Bool = false) throws(EnrollError) -> [TokenSet] {
    var dropped: [TokenSet] = []
    let unsaved = memory.withLock { $0.unsaved.map { [$0.tokens] } ?? [] }
    // Tokens that could not be stored belong to the session, too.
    func tokens(of record: AccountRecord) -> [TokenSet] {
      [record.confirmed, record.provisional].compactMap { $0 } + (record.confirmed == nil ? [] : unsaved)
    }
    do throws(EnrollError) {
      try store.update(account) { record throws(EnrollError) in
        dropped = tokens(of: record)
        record.eraseSession()
        record.asksForLogin = true
        if forgettingTransactions { record.transactions = [] } else { record.settleTransactions() }
      }
    } catch {
      // A full disk takes no new record, and keeps nobody signed in: removing the old one needs no space.
      guard error.code == .storeFull || error.code == .storeIO else { throw error }
      if let record = try store.read(account) { dropped = tokens(of: record) }
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

  static let noRevocationEndpoint = "the provider announces no revocation endpoint (RFC 7009)"

  /// The state of the request to revoke a token.
  enum Queued {
    /// ``deliver(cancellation:)`` sends it.
    case entry(OutboxEntry)
    /// The server cannot be told: why.
    case impossible(String)
  }

  /// Queues the revocation of a token set.
  /// - Returns: of the token on which the session depends: the refresh token, where there is one.
  @discardableResult
  func revokeLater(_ tokens: TokenSet) -> Queued {
    // A back end's session token means nothing to the issuer, and must not be shown to it.
    guard tokens.source == .issuer else {
      return .impossible("a back end's session token cannot be revoked at the provider")
    }
    // The refresh token first: some servers want the access token alive, as the bearer of that request.
    let first = tokens.refreshToken.map {
      revokeLater($0, hint: "refresh_token", bearer: tokens.accessToken, dpopKey: tokens.proofKey)
    }
    let moment = clock.moment()
    for case let token? in tokens.audiences.entries.map({ $0.token }) where !token.expiry.isOver(at: moment) {
      revokeLater(
        token.accessToken, hint: "access_token", bearer: tokens.accessToken, dpopKey: tokens.proofKey)
    }
    let second = revokeLater(
      tokens.accessToken, hint: "access_token", bearer: tokens.accessToken, dpopKey: tokens.proofKey)
    return first ?? second
  }

  /// Queues the revocation of one token, where the issuer has an endpoint for that.
  @discardableResult
  func revokeLater(_ token: Secret, hint: String, bearer: Secret?, dpopKey: DPoPKey? = nil) -> Queued {
    let endpoint = provider.cachedMetadata?.revocationEndpoint
    if provider.cachedMetadata != nil, endpoint == nil { return .impossible(Self.noRevocationEndpoint) }
    let entry = OutboxEntry(
      issuer: configuration.issuer, sender: sender, endpoint: endpoint,
      message: .revocation(
        .init(clientID: configuration.clientID, token: token, hint: hint, bearer: bearer, dpopKey: dpopKey)),
      queued: clock.wallTime())
    do throws(EnrollError) {
      try store.updateOutbox { outbox throws(EnrollError) in outbox.append(entry) }
      return .entry(entry)
    } catch {
      return .impossible("the revocation could not be queued: \(error.message)")
    }
  }

  /// Queues the revocation of tokens that came and that nobody keeps: their answer was refused.
  func revokeTokens(in http: HTTPResponse, of dpopKey: DPoPKey?) {
    guard (200..<300).contains(http.status) else { return }
    let (json, _) = TokenResponse.members(of: http, undoubted: "refresh_token")
    func member(_ name: String) -> JSON? { json[name] ?? TokenResponse.tokenBeforeCut(name, in: http) }
    let access = TokenResponse.token(member("access_token"))
    // As the server says; one of no type that is known gets no proof.
    let type = json["token_type"]?.string ?? ""
    let key = ASCII.equalsIgnoringCase(type, "DPoP") ? dpopKey : nil
    if let refresh = try? TokenResponse.refreshToken(member("refresh_token"), http) {
      revokeLater(refresh, hint: "refresh_token", bearer: access, dpopKey: key)
    }
    if let access { revokeLater(access, hint: "access_token", bearer: access, dpopKey: key) }
  }
}
