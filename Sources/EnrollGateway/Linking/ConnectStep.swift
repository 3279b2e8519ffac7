// One more way to sign in to an account, and one less. An identity is linked by two proofs within ten minutes: the session began then, and
// the identity's provider answers now. The attempt carries the account, sealed, so that no other browser and no other account
// ends it; the form that begins it is marked, so that no other site begins it. An e-mail address links nothing, verified or not.

import EnrollCore
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  /// `POST /account/connect`
  func connect(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try ownForm(request) else { return .redirect(to: "/login") }
    guard let name = request.form?["provider"] else { throw .failure(.invalidRequest) }
    let provider = try provider(name)
    guard proof(request, hash, session) != nil else {
      return .redirect(to: ConfirmedWish.account.confirmPath)
    }
    return try send(request, to: provider, purpose: .link(account: session.account.id), returnTo: nil)
  }

  /// The provider says who is to be linked.
  func finishConnecting(
    _ request: WebRequest, _ identity: Identity, to account: String, over: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    guard let hash = sessionHash(request), let session = try liveSession(request),
      ASCII.equals(session.account.id, account)
    else { return views.failure(.formExpired, for: request, retryAt: "/account", headers: [over]) }
    guard let proof = proof(request, hash, session) else {
      return .redirect(to: ConfirmedWish.account.confirmPath, headers: [over])
    }
    let linking = try stored { () throws(StoreFailure) in try store.link(identity, by: proof, at: now) }
    switch linking {
    case .linked:
      log.write(.info, "\(identity.provider): an identity was linked to account \(account)")
      let all = try stored { () throws(StoreFailure) in try store.identities(ofAccount: account) }
      tell(.identityLinked(provider: label(of: identity)), about: all, for: request)
      return .redirect(to: Self.account(.connected), headers: [over])
    case .already: return .redirect(to: Self.account(.alreadyConnected), headers: [over])
    case .notRecent: return .redirect(to: ConfirmedWish.account.confirmPath, headers: [over])
    case .other(let other):
      let offer = MergeOffer(
        account: account, session: hash, other: other, identity: identity.key, email: identity.email,
        expires: now + Self.proofSeconds)
      let value = try owned { () throws(EnrollError) in
        try offer.sealed(with: keys, at: now, random: random)
      }
      return .redirect(
        to: "/account/merge",
        headers: [over, .cookie(MergeOffer.cookie, value, seconds: Self.proofSeconds)])
    }
  }

  /// `POST /account/disconnect`
  func disconnect(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try ownForm(request) else { return .redirect(to: "/login") }
    guard let key = request.form?["identity"].flatMap({ IdentityKey(formText: $0) }) else {
      throw .failure(.invalidRequest)
    }
    let account = session.account.id
    guard let proof = proof(request, hash, session) else {
      return .redirect(to: ConfirmedWish.account.confirmPath)
    }
    // Whoever loses an identity is told at its address, too.
    let before = try stored { () throws(StoreFailure) in try store.identities(ofAccount: account) }
    let unlinking = try stored { () throws(StoreFailure) in try store.unlink(key, by: proof, at: now) }
    switch unlinking {
    case .unlinked(let ended, _):
      log.write(
        .info, "\(key.provider): an identity was unlinked from account \(account); \(ended) sessions ended")
      if let identity = before.first(where: { $0.key == key }) {
        tell(.identityUnlinked(provider: label(of: identity)), about: before, for: request)
      }
      revokeNow()
      guard session.identity.key != key else {
        return .redirect(to: "/signed-out", headers: Self.withoutSession)
      }
      return .redirect(to: Self.account(.disconnected))
    case .last: return .redirect(to: Self.account(.lastWay))
    case .unknown: return .redirect(to: "/account")
    case .notRecent: return .redirect(to: ConfirmedWish.account.confirmPath)
    }
  }

  /// The account page, with what has happened.
  static func account(_ notice: AccountPage.Notice) -> String { "/account?notice=\(notice.rawValue)" }

  func label(of identity: Identity) -> String {
    providers.first { ASCII.equals($0.name, identity.provider) }?.label ?? identity.provider
  }
}

extension IdentityKey {
  /// In a form: the provider's name, which has no blank, a blank, and the subject.
  var formText: String { provider + " " + subject }

  init?(formText: String) {
    guard let blank = formText.utf8.firstIndex(of: 0x20) else { return nil }
    self.init(
      provider: String(formText[..<blank]),
      subject: String(formText[formText.utf8.index(after: blank)...]))
    guard GatewaySettings.isName(provider), !subject.utf8.isEmpty else { return nil }
  }
}
