// The messages that have a provider forget tokens (RFC 7009 §2.1), on their way into the outbox.

import EnrollCrypto
import EnrollJSON

extension Engine {
  static let noRevocationEndpoint = "the provider announces no revocation endpoint (RFC 7009)"

  /// One message for each token of a set, the refresh token's first: some servers want the access token alive, as the bearer of
  /// that request.
  /// - Returns: none for a back end's session, which the issuer must not see.
  func revocations(of tokens: TokenSet, user: String?) -> [OutboxEntry] {
    guard tokens.source == .issuer else { return [] }
    func revocation(_ token: Secret, _ hint: String) -> OutboxEntry {
      self.revocation(token, hint: hint, user: user, bearer: tokens.accessToken, dpopKey: tokens.proofKey)
    }
    let moment = clock.moment()
    let audiences = tokens.audiences.entries.compactMap { $0.token }.filter { !$0.expiry.isOver(at: moment) }
    return (tokens.refreshToken.map { [revocation($0, "refresh_token")] } ?? [])
      + audiences.map { revocation($0.accessToken, "access_token") }
      + [revocation(tokens.accessToken, "access_token")]
  }

  private func revocation(
    _ token: Secret, hint: String, user: String?, bearer: Secret?, dpopKey: DPoPKey?
  ) -> OutboxEntry {
    OutboxEntry(
      issuer: configuration.issuer, sender: sender, endpoint: provider.cachedMetadata?.revocationEndpoint,
      message: .revocation(
        .init(
          clientID: configuration.clientID, token: token, hint: hint, user: user, bearer: bearer,
          dpopKey: dpopKey)),
      queued: clock.wallTime())
  }

  /// Puts messages into the outbox. Where the store does not take them, this process keeps them and sends them all the same.
  func queue(_ entries: [OutboxEntry]) {
    guard !entries.isEmpty else { return }
    do throws(EnrollError) {
      try store.updateOutbox { outbox throws(EnrollError) in outbox.add(entries) }
    } catch {
      memory.withLock { $0.unqueued.add(entries) }
    }
  }

  /// Queues the revocation of the tokens in an answer that was refused, where the rule allows it. Nothing is revoked where the answer
  /// shows that it was made for somebody else: a cache, or another fault on the way, brought it.
  /// - Parameter user: nil where it is not proven whose they are.
  func revokeTokens(in http: HTTPResponse, of grant: Grant, user: String? = nil) {
    guard (200..<300).contains(http.status), !http.isFromCache,
      secondsBefore(http, tolerating: ReplayCheck.foreignToleranceSeconds) == nil
    else { return }
    let (json, _) = TokenResponse.members(of: http, undoubted: "refresh_token")
    func member(_ name: String) -> JSON? { json[name] ?? TokenResponse.tokenBeforeCut(name, in: http) }
    if let idToken = json["id_token"]?.string,
      grant.isContradicted(by: Secret(idToken), clientID: configuration.clientID)
    {
      return
    }
    let access = TokenResponse.token(member("access_token"))
    // As the server says; one of no type that is known gets no proof.
    let type = json["token_type"]?.string ?? ""
    let key = ASCII.equalsIgnoringCase(type, "DPoP") ? grant.dpopKey : nil
    revokeLoose(
      try? TokenResponse.refreshToken(member("refresh_token"), http), access, user: user, dpopKey: key)
  }

  /// Queues the revocation of tokens that never became a set, where the rule allows it.
  func revokeLoose(
    _ refreshToken: Secret?, _ accessToken: Secret? = nil, user: String? = nil, dpopKey: DPoPKey? = nil
  ) {
    guard refreshToken != nil || accessToken != nil, !signedInUsers().mayInclude(user) else { return }
    let tokens = [(refreshToken, "refresh_token"), (accessToken, "access_token")]
    queue(
      tokens.compactMap { token, hint in
        token.map { revocation($0, hint: hint, user: user, bearer: accessToken, dpopKey: dpopKey) }
      })
  }
}

extension TokenSet {
  func includes(_ token: Secret) -> Bool {
    token == accessToken || token == refreshToken
      || audiences.entries.contains { $0.token?.accessToken == token }
  }
}

extension OutboxEntry {
  /// Whether it has a server forget that token.
  func revokes(_ token: Secret) -> Bool {
    if case .revocation(let revocation) = message { revocation.token == token } else { false }
  }
}

extension [OutboxEntry] {
  /// Adds messages that are not there yet.
  mutating func add(_ entries: [OutboxEntry]) {
    for entry in entries where !contains(where: { $0.isTwin(of: entry) }) { append(entry) }
  }
}

extension OutboxEntry {
  /// Whether both say the same to the same server.
  fileprivate func isTwin(of other: OutboxEntry) -> Bool {
    message == other.message && sender == other.sender && issuer == other.issuer
  }
}
