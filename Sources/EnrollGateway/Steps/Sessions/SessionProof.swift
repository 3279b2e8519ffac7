// Decides which sessions prove that the user has just authenticated. A sign-in is a proof if the provider's `auth_time`
// (OpenID Connect Core §2) is within ten minutes. Without `auth_time`, a sign-in is a proof in two cases: if the
// request had `prompt=login`, or if the provider does not support `prompt=login`. Otherwise the sign-in is no proof:
// without `prompt=login`, a provider that keeps its own session would sign in anybody who uses the browser. A session
// whose sign-in is a proof has a second cookie, with a code that is derived from the session's hash; the proof expires
// ten minutes after the session's beginning.

import EnrollRules
import EnrollGatewayPages
import EnrollHTTP

extension GatewaySessions {
  /// How long a sign-in is a proof of the user's identity.
  static let proofSeconds = SignInProvider.proofSeconds
  /// The name of the second cookie, which carries the proof. The session itself has its own cookie.
  static let proofCookie = "__Host-enroll-proof"

  /// Whether a provider's answer proves that the user has just authenticated. Without `auth_time` the answer
  /// is a proof if the provider was asked to authenticate the user again, or does not support such requests.
  func isProof(_ signIn: ProviderSignIn, of purpose: Attempt.Purpose, at provider: SignInProvider) -> Bool {
    guard signIn.authTime != nil else { return purpose != .signIn || !provider.supportsReauthentication }
    return isFresh(signIn)
  }

  /// Whether `auth_time` is less than ten minutes from now: in the past or, because clocks differ, in the future.
  func isFresh(_ signIn: ProviderSignIn) -> Bool {
    guard let time = signIn.authTime else { return false }
    return time >= now - Self.proofSeconds && time <= now + Self.proofSeconds
  }

  /// The cookies of a session that begins in the browser.
  /// - Parameter isProven: whether the session's sign-in is a proof.
  func cookies(
    ofSession token: String, _ hash: [UInt8], isProven: Bool
  ) throws(Interruption) -> [HTTPHeader] {
    let session = HTTPHeader.cookie(Self.sessionCookie, token, seconds: settings.absoluteSeconds)
    guard isProven else { return [session] }
    let code = try internalCall { () throws(EnrollError) in
      try keys.authenticationCode(of: hash, for: .proof, at: now)
    }
    return [session, .cookie(Self.proofCookie, code, seconds: Self.proofSeconds)]
  }

  /// The headers that delete the session's cookie and the cookie of its proof.
  static let withoutSession = [sessionCookie, proofCookie].map { HTTPHeader.cookie($0, "", seconds: 0) }

  /// The proof that the store checks when it makes a change; nil if the session's sign-in is no proof, or is too old.
  func proof(_ request: WebRequest, _ hash: [UInt8], _ session: LiveSession) -> RecentSignIn? {
    guard session.created >= now - Self.proofSeconds,
      let code = request.cookie(Self.proofCookie).value, keys.verifies(code, of: hash, for: .proof)
    else { return nil }
    return RecentSignIn(tokenHash: hash, account: session.account.id, since: now - Self.proofSeconds)
  }
}
