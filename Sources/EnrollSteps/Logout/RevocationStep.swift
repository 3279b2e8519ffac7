// Makes the messages that revoke tokens (RFC 7009 §2.1), and puts them into the outbox.

import EnrollCrypto
import EnrollJSON
import EnrollRules

extension Engine {
  static let noRevocationEndpoint = "the provider announces no revocation endpoint (RFC 7009)"

  /// One message for each token of a set, the refresh token's first: some servers need a valid access token as the
  /// bearer of that request.
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

  /// Puts messages into the outbox. If the store does not accept them, this process keeps them and sends them.
  func queue(_ entries: [OutboxEntry]) {
    guard !entries.isEmpty else { return }
    do throws(EnrollError) {
      try store.updateOutbox { outbox throws(EnrollError) in outbox.add(entries) }
    } catch {
      // These messages do not wait for a browser, because they would be lost if the process ended.
      let entries = entries.map { entry in
        var entry = entry
        if entry.awaitedLogout != nil { entry.endLogoutWait() }
        return entry
      }
      memory.withLock { $0.unqueued.add(entries) }
    }
  }

  /// Queues the revocation of the tokens in a refused response, if the rule allows it. Revokes nothing if the response
  /// shows that it was made for another request: a cache, or another fault on the way, delivered it.
  /// - Parameter user: nil if it is not proven whose tokens they are.
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
    // The type that the server names. A token of an unknown type gets no proof.
    let type = json["token_type"]?.string ?? ""
    let key = ASCII.equalsIgnoringCase(type, "DPoP") ? grant.dpopKey : nil
    revokeLoose(
      try? TokenResponse.refreshToken(member("refresh_token"), http), access, user: user, dpopKey: key)
  }

  /// Queues the revocation of tokens that did not become a token set, if the rule allows it.
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
