// The identity that the user wants to link already has an account: the same user may have created two accounts. The
// accounts are merged if the user has signed in to both within the last ten minutes and confirms the merger on a page.
// The sign-in to the second account is kept in a sealed cookie that is bound to the session that asked for the link.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollJSON
import EnrollHTTP

/// The proof that the user holds an identity of another account.
struct MergeOffer: Equatable {
  /// The account that stays.
  var account: AccountID
  /// The hash of the session that asked for the link.
  var session: [UInt8]
  /// The account that would be deleted.
  var other: AccountID
  var identity: IdentityKey
  /// The identity's e-mail address, for the page.
  var email: String?
  var expires: UnixTime

  static let cookie = "__Host-enroll-merge"

  func sealed(with keys: KeyRing, at now: UnixTime, random: any RandomSource) throws(EnrollError) -> String {
    let json = JSON.object([
      ("account", .string(account.text)), ("session", .string(Base64URL.encode(session))),
      ("other", .string(other.text)), ("provider", .string(identity.provider)),
      ("subject", .string(identity.subject)), ("email", email.map { .string($0) }),
      ("expires", .integer(expires.seconds)),
    ])
    return try keys.seal(Secret(json.serialized()), for: .merge, at: now, random: random)
  }

  /// Opens a sealed offer. nil if the text was not sealed by these keys, is for another session, or has expired.
  init?(sealed text: String, with keys: KeyRing, session: [UInt8], at now: UnixTime) {
    guard let opened = keys.open(text, for: .merge), let json = try? JSON.parse(opened.revealBytes()),
      let account = json["account"]?.string.flatMap({ AccountID($0) }),
      let other = json["other"]?.string.flatMap({ AccountID($0) }),
      let hash = json["session"]?.string.flatMap({ Base64URL.decode($0) }),
      ConstantTime.equal(hash, session),
      let provider = json["provider"]?.string, let subject = json["subject"]?.string,
      let seconds = json["expires"]?.integer, now < UnixTime(seconds: seconds)
    else { return nil }
    self.init(
      account: account, session: hash, other: other,
      identity: IdentityKey(provider: provider, subject: subject), email: json["email"]?.string,
      expires: UnixTime(seconds: seconds))
  }

  init(
    account: AccountID, session: [UInt8], other: AccountID, identity: IdentityKey, email: String?,
    expires: UnixTime
  ) {
    self.account = account
    self.session = session
    self.other = other
    self.identity = identity
    self.email = email
    self.expires = expires
  }
}

extension IdentityLinking {
  /// `GET /account/merge`
  func mergePage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let hash = sessions.sessionHash(request), let session = try sessions.liveSession(request) else {
      return .redirect(to: "/login", headers: sessions.clearingSession(request))
    }
    guard let offer = mergeOffer(request, hash, session) else { return .redirect(to: "/account") }
    let formToken = try formToken(hash)
    let provider = providers.first { ASCII.equals($0.name, offer.identity.provider) }
    return try page(
      views.merge(
        provider: provider?.label ?? offer.identity.provider, email: offer.email, formToken: formToken,
        for: request))
  }

  /// `POST /account/merge/confirm`
  func mergeAccounts(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try sessions.ownForm(request) else { return .redirect(to: "/login") }
    let clearingCookie = HTTPHeader.cookie(MergeOffer.cookie, "", seconds: 0)
    guard let offer = mergeOffer(request, hash, session) else {
      return views.failure(.formExpired, for: request, retryAt: "/account", headers: [clearingCookie])
    }
    let (mine, theirs) = try callingStore { () throws(StoreFailure) in
      (try store.identities(ofAccount: offer.account), try store.identities(ofAccount: offer.other))
    }
    guard let proof = sessions.proof(request, hash, session) else {
      return .redirect(to: ConfirmationTarget.account.confirmPath, headers: [clearingCookie])
    }
    let merging = try callingStore { () throws(StoreFailure) in
      try store.merge(offer.other, provenBy: offer.identity, by: proof, at: now)
    }
    switch merging {
    case .merged(let ended):
      log.write(
        .info, "account \(offer.other) was merged into account \(offer.account); \(ended) sessions ended")
      notices.notify(.accountsMerged, about: mine + theirs, for: request)
      return .redirect(to: AccountPage.Notice.merged.path, headers: [clearingCookie])
    case .already: return .redirect(to: AccountPage.Notice.merged.path, headers: [clearingCookie])
    case .gone:
      return views.failure(.formExpired, for: request, retryAt: "/account", headers: [clearingCookie])
    case .notRecent: return .redirect(to: ConfirmationTarget.account.confirmPath, headers: [clearingCookie])
    }
  }

  private func mergeOffer(_ request: WebRequest, _ hash: [UInt8], _ session: LiveSession) -> MergeOffer? {
    let offer = request.cookie(MergeOffer.cookie).value.flatMap {
      MergeOffer(sealed: $0, with: keys, session: hash, at: now)
    }
    return offer.flatMap { $0.account == session.account.id ? $0 : nil }
  }
}

extension Views {
  func merge(provider: String, email: String?, formToken: String, for request: WebRequest) -> WebResponse? {
    guard let action = link("/account/merge/confirm"), let account = link("/account") else { return nil }
    let page = MergePage(
      provider: provider, email: email, action: action, account: account,
      token: FormToken(name: Self.formField, value: formToken))
    return answer(page, for: request)
  }
}
