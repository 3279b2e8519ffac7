// Makes the messages that revoke tokens (RFC 7009 §2.1), and puts them into the outbox.

import EnrollCrypto
import EnrollJSON
import EnrollRules

/// Queues the revocation of tokens.
final class RevocationStep: EngineStep {
  let context: EngineContext
  private let outbox: OutboxStep

  init(_ context: EngineContext, outbox: OutboxStep) {
    self.context = context
    self.outbox = outbox
  }

  static let noRevocationEndpoint = "the provider announces no revocation endpoint (RFC 7009)"

  /// The messages that revoke a set of tokens, one for each token. The refresh token's message is first, because some
  /// servers require a valid access token in the header of that request.
  /// - Returns: no messages for a back end's session token, which the issuer must not see.
  func messages(revoking tokens: TokenSet, of user: String?) -> [OutboxEntry] {
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

  /// Queues the revocation of the tokens in a refused response, if R35 allows it. Revokes nothing if the response shows
  /// that it was made for another request, and that a cache or another fault on the way delivered it here.
  /// - Parameter user: nil if it is not proven whose tokens they are.
  func revokeTokens(in http: HTTPResponse, of grant: Grant, user: String? = nil) {
    guard (200..<300).contains(http.status), !http.isFromCache,
      context.secondsBefore(http, tolerating: ReplayCheck.foreignToleranceSeconds) == nil
    else { return }
    let (json, _) = TokenResponse.members(of: http, undoubted: "refresh_token")
    func member(_ name: String) -> JSON? { json[name] ?? TokenResponse.tokenBeforeCut(name, in: http) }
    if let idToken = json["id_token"]?.string,
      grant.isContradicted(by: Secret(idToken), clientID: configuration.clientID)
    {
      return
    }
    let access = TokenResponse.token(member("access_token"))
    // The token type that the server names. A request with a token of an unknown type has no DPoP proof.
    let type = json["token_type"]?.string ?? ""
    let key = ASCII.equalsIgnoringCase(type, "DPoP") ? grant.dpopKey : nil
    revokeLoose(
      try? TokenResponse.refreshToken(member("refresh_token"), http), access, user: user, dpopKey: key)
  }

  /// Queues the revocation of single tokens, from which no token set could be made, if R35 allows it.
  func revokeLoose(
    _ refreshToken: Secret?, _ accessToken: Secret? = nil, user: String? = nil, dpopKey: DPoPKey? = nil
  ) {
    guard refreshToken != nil || accessToken != nil, !context.signedInUsers().mayInclude(user) else { return }
    let tokens = [(refreshToken, "refresh_token"), (accessToken, "access_token")]
    outbox.queue(
      tokens.compactMap { token, hint in
        token.map { revocation($0, hint: hint, user: user, bearer: accessToken, dpopKey: dpopKey) }
      })
  }

  /// Queues the revocation of tokens that nobody keeps, if R35 allows it. Tokens of a record are queued before they
  /// leave the record, so that they are not lost if the process ends: R35 delays their messages while the record still
  /// has them.
  /// - Parameter users: the users of all accounts, including the user of the record that is about to be stored; nil
  ///   means the users in the store.
  func revokeUnkept(_ unkept: [UnkeptTokens?], beside users: SignedInUsers? = nil) {
    let unkept = unkept.compactMap { $0 }
    guard !unkept.isEmpty else { return }
    let users = users ?? context.signedInUsers()
    outbox.queue(
      unkept.filter { !users.mayInclude($0.user) }.flatMap { messages(revoking: $0.tokens, of: $0.user) })
  }

  /// Removes the waiting revocations of tokens of a user whose session was just stored: a revocation may end that
  /// session.
  func dropRevocations(of user: String?) {
    func isOfUser(_ entry: OutboxEntry) -> Bool {
      guard context.isOurs(entry), case .revocation(let revocation) = entry.message else { return false }
      switch (revocation.user, user) {
      case (nil, nil): return true
      case (let left?, let right?): return ASCII.equals(left, right)
      case (nil, _?), (_?, nil): return false
      }
    }
    outbox.remove(where: isOfUser)
  }
}
