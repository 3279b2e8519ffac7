// Which sessions prove who sits there. A sign-in proves it if the provider says by `auth_time` (OpenID Connect Core §2) that it asked the
// person within ten minutes, or does not say so and was told by `prompt=login` to ask: a provider that still knows the browser signs in whoever sits there.
// The session then has a mark in a cookie beside its own, made from the session's hash; the beginning of the session bounds its time.

import EnrollCore
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  /// How long a sign-in proves who somebody is.
  static let proofSeconds: Int64 = 600
  /// Beside the session's cookie.
  static let proofCookie = "__Host-enroll-proof"

  /// Whether a provider's answer proves who sits there now. A provider without `auth_time` proves it if it was told to ask
  /// again, or if it knows no way to be told so.
  func isProof(_ arrival: Arrival, of purpose: Attempt.Purpose, at provider: SignInProvider) -> Bool {
    guard arrival.authTime != nil else { return purpose != .signIn || !provider.asksAgain }
    return isFresh(arrival)
  }

  /// Whether the provider says that it asked the person within ten minutes.
  func isFresh(_ arrival: Arrival) -> Bool {
    guard let time = arrival.authTime else { return false }
    return time >= now - Self.proofSeconds && time <= now + Self.proofSeconds
  }

  /// The cookies of a session that begins in the browser.
  /// - Parameter isProven: whether its sign-in proves who sits there.
  func cookies(
    ofSession token: String, _ hash: [UInt8], isProven: Bool
  ) throws(Interruption) -> [HTTPHeader] {
    let session = HTTPHeader.cookie(Self.sessionCookie, token, seconds: settings.absoluteSeconds)
    guard isProven else { return [session] }
    let mark = try owned { () throws(EnrollError) in try keys.mark(hash, for: .proof, at: now) }
    return [session, .cookie(Self.proofCookie, mark, seconds: Self.proofSeconds)]
  }

  /// Removes those cookies.
  static let withoutSession = [sessionCookie, proofCookie].map { HTTPHeader.cookie($0, "", seconds: 0) }

  /// The session as the store checks it when it changes something; nil for one that proves nobody.
  func proof(_ request: WebRequest, _ hash: [UInt8], _ session: LiveSession) -> RecentSignIn? {
    guard session.created >= now - Self.proofSeconds,
      let mark = request.cookie(Self.proofCookie).value, keys.isMark(mark, of: hash, for: .proof)
    else { return nil }
    return RecentSignIn(tokenHash: hash, account: session.account.id, since: now - Self.proofSeconds)
  }
}
