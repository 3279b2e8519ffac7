// Links and unlinks identities of an account. Linking needs two proofs within ten minutes: the session's sign-in, and a sign-in
// at the new identity's provider. The attempt contains the account, sealed, so that no other browser or account can
// complete the attempt; the form that starts the attempt has a token, so that no other site can start an attempt. An
// e-mail address never links anything, verified or not.

import EnrollRules
import EnrollSteps
import EnrollGatewayPages
import EnrollHTTP

/// Links, unlinks and merges identities, after a recent sign-in.
struct IdentityLinking: GatewaySteps {
  let services: GatewayServices
  let store: any SessionStore & AccountChanges
  let sessions: GatewaySessions
  let starts: SignInStart
  let notices: AccountNotices
  let revocations: Revocations

  /// `POST /account/connect`
  func connect(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try sessions.ownForm(request) else { return .redirect(to: "/login") }
    guard let name = request.form?["provider"] else { throw .failure(.invalidRequest) }
    let provider = try services.provider(name)
    guard sessions.proof(request, hash, session) != nil else {
      return .redirect(to: ConfirmationTarget.account.confirmPath)
    }
    return try starts.send(request, to: provider, purpose: .link(account: session.account.id), returnTo: nil)
  }

  /// Handles the provider's answer for the identity to link.
  func handleConnectCallback(
    _ request: WebRequest, _ identity: Identity, to account: AccountID, clearingCookie: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    guard let hash = sessions.sessionHash(request), let session = try sessions.liveSession(request),
      session.account.id == account
    else { return views.failure(.formExpired, for: request, retryAt: "/account", headers: [clearingCookie]) }
    guard let proof = sessions.proof(request, hash, session) else {
      return .redirect(to: ConfirmationTarget.account.confirmPath, headers: [clearingCookie])
    }
    let linking = try callingStore { () throws(StoreFailure) in try store.link(identity, by: proof, at: now) }
    switch linking {
    case .linked:
      log.write(.info, "\(identity.provider): an identity was linked to account \(account)")
      let all = try callingStore { () throws(StoreFailure) in try store.identities(ofAccount: account) }
      notices.notify(.identityLinked(provider: label(of: identity)), about: all, for: request)
      return .redirect(to: AccountPage.Notice.connected.path, headers: [clearingCookie])
    case .already: return .redirect(to: AccountPage.Notice.alreadyConnected.path, headers: [clearingCookie])
    case .notRecent: return .redirect(to: ConfirmationTarget.account.confirmPath, headers: [clearingCookie])
    case .other(let other):
      let offer = MergeOffer(
        account: account, session: hash, other: other, identity: identity.key, email: identity.email,
        expires: now + GatewaySessions.proofSeconds)
      let value = try internalCall { () throws(EnrollError) in
        try offer.sealed(with: keys, at: now, random: random)
      }
      return .redirect(
        to: "/account/merge",
        headers: [clearingCookie, .cookie(MergeOffer.cookie, value, seconds: GatewaySessions.proofSeconds)])
    }
  }

  /// `POST /account/disconnect`
  func disconnect(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try sessions.ownForm(request) else { return .redirect(to: "/login") }
    guard let key = request.form?["identity"].flatMap({ IdentityKey(formText: $0) }) else {
      throw .failure(.invalidRequest)
    }
    let account = session.account.id
    guard let proof = sessions.proof(request, hash, session) else {
      return .redirect(to: ConfirmationTarget.account.confirmPath)
    }
    // The address of the removed identity also gets an e-mail, so the identities are read before the change.
    let before = try callingStore { () throws(StoreFailure) in try store.identities(ofAccount: account) }
    let unlinking = try callingStore { () throws(StoreFailure) in try store.unlink(key, by: proof, at: now) }
    switch unlinking {
    case .unlinked(let ended, _):
      log.write(
        .info, "\(key.provider): an identity was unlinked from account \(account); \(ended) sessions ended")
      if let identity = before.first(where: { $0.key == key }) {
        notices.notify(.identityUnlinked(provider: label(of: identity)), about: before, for: request)
      }
      revocations.revokeNow()
      guard session.identity.key != key else {
        return .redirect(to: "/signed-out", headers: GatewaySessions.withoutSession)
      }
      return .redirect(to: AccountPage.Notice.disconnected.path)
    case .last: return .redirect(to: AccountPage.Notice.lastWay.path)
    case .unknown: return .redirect(to: "/account")
    case .notRecent: return .redirect(to: ConfirmationTarget.account.confirmPath)
    }
  }

  func label(of identity: Identity) -> String {
    providers.first { ASCII.equals($0.name, identity.provider) }?.label ?? identity.provider
  }
}

extension AccountPage.Notice {
  /// The path of the account page with this notice.
  var path: String { "/account?notice=\(rawValue)" }
}

extension IdentityKey {
  /// The value in a form: the provider's name, a blank, and the subject. The name contains no blank.
  var formText: String { provider + " " + subject }

  init?(formText: String) {
    guard let blank = formText.utf8.firstIndex(of: 0x20) else { return nil }
    self.init(
      provider: String(formText[..<blank]),
      subject: String(formText[formText.utf8.index(after: blank)...]))
    guard GatewaySettings.isName(provider), !subject.utf8.isEmpty else { return nil }
  }
}
