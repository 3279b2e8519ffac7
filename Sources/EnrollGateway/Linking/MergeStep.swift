// An identity that somebody wanted to link has an account already: the same person may have made two. They are joined if the person says
// so on a page, within ten minutes of both proofs. The second proof waits in a sealed cookie that belongs to this session.

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages
import EnrollJSON
import EnrollHTTP

/// The proof of an identity that another account has.
struct MergeOffer: Equatable {
  /// The account that stays.
  var account: String
  /// The hash of the session that wanted the link.
  var session: [UInt8]
  /// The account that would disappear.
  var other: String
  var identity: IdentityKey
  /// For the page.
  var email: String?
  var expires: UnixTime

  static let cookie = "__Host-enroll-merge"

  func sealed(with keys: KeyRing, at now: UnixTime, random: any RandomSource) throws(EnrollError) -> String {
    let json = JSON.object([
      ("account", .string(account)), ("session", .string(Base64URL.encode(session))),
      ("other", .string(other)), ("provider", .string(identity.provider)),
      ("subject", .string(identity.subject)), ("email", email.map { .string($0) }),
      ("expires", .integer(expires.seconds)),
    ])
    return try keys.seal(Secret(json.serialized()), for: .merge, at: now, random: random)
  }

  /// nil for anything that was not sealed here, not for this session, or not for this moment.
  init?(sealed text: String, with keys: KeyRing, session: [UInt8], at now: UnixTime) {
    guard let opened = keys.open(text, for: .merge), let json = try? JSON.parse(opened.revealBytes()),
      let account = json["account"]?.string, let other = json["other"]?.string,
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
    account: String, session: [UInt8], other: String, identity: IdentityKey, email: String?, expires: UnixTime
  ) {
    self.account = account
    self.session = session
    self.other = other
    self.identity = identity
    self.email = email
    self.expires = expires
  }
}

extension Gateway {
  /// `GET /account/merge`
  func mergePage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let hash = sessionHash(request), let session = try liveSession(request) else {
      return .redirect(to: "/login", headers: forgetting(request))
    }
    guard let offer = mergeOffer(request, hash, session) else { return .redirect(to: "/account") }
    let mark = try owned { () throws(EnrollError) in try keys.mark(hash, for: .form, at: now) }
    let provider = providers.first { ASCII.equals($0.name, offer.identity.provider) }
    return try page(
      views.merge(
        provider: provider?.label ?? offer.identity.provider, email: offer.email, formToken: mark,
        for: request))
  }

  /// `POST /account/merge/confirm`
  func mergeAccounts(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try ownForm(request) else { return .redirect(to: "/login") }
    let over = HTTPHeader.cookie(MergeOffer.cookie, "", seconds: 0)
    guard let offer = mergeOffer(request, hash, session) else {
      return views.failure(.formExpired, for: request, retryAt: "/account", headers: [over])
    }
    let (mine, theirs) = try stored { () throws(StoreFailure) in
      (try store.identities(ofAccount: offer.account), try store.identities(ofAccount: offer.other))
    }
    guard let proof = proof(request, hash, session) else {
      return .redirect(to: ConfirmedWish.account.confirmPath, headers: [over])
    }
    let merging = try stored { () throws(StoreFailure) in
      try store.merge(offer.other, provenBy: offer.identity, by: proof, at: now)
    }
    switch merging {
    case .merged(let ended):
      log.write(
        .info, "account \(offer.other) was merged into account \(offer.account); \(ended) sessions ended")
      tell(.accountsMerged, about: mine + theirs, for: request)
      return .redirect(to: Self.account(.merged), headers: [over])
    case .already: return .redirect(to: Self.account(.merged), headers: [over])
    case .gone: return views.failure(.formExpired, for: request, retryAt: "/account", headers: [over])
    case .notRecent: return .redirect(to: ConfirmedWish.account.confirmPath, headers: [over])
    }
  }

  private func mergeOffer(_ request: WebRequest, _ hash: [UInt8], _ session: LiveSession) -> MergeOffer? {
    let offer = request.cookie(MergeOffer.cookie).value.flatMap {
      MergeOffer(sealed: $0, with: keys, session: hash, at: now)
    }
    return offer.flatMap { ASCII.equals($0.account, session.account.id) ? $0 : nil }
  }
}
