// The request for an id_token, for programs that use one as a credential, such as a Kubernetes API server. In
// OpenID Connect an id_token is for the client itself; here the user decides to pass it to another program.

import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON

/// The request for an id_token that has not expired.
struct IDTokenRequest {
  var minimumLifetime: Int64
  var timeout: Int64
  /// Whether the user set the timeout, so that all of it is used.
  var isTimeoutNamed: Bool
  /// Whether to ignore the stored id_token.
  var renews: Bool

  /// Returns the stored id_token, or an id_token from a renewal.
  /// - Throws: `.refused` if the provider issues none that lasts long enough.
  func perform(_ client: Client, _ session: CommandSession) throws(Failure) -> BearerToken {
    if !renews, let kept = try kept(client, session) { return kept }
    var wait = TokenWait(seconds: timeout, isNamed: isTimeoutNamed, session)
    var report: TokenReport
    repeat {
      let seconds = wait.secondsLeft(session)
      let outcome = try session.run { cancellation throws(EnrollError) in
        try client.refresh(until: client.deadline(afterSeconds: seconds), cancellation: cancellation)
      }
      if let renewed = try kept(client, session) { return renewed }
      report = TokenReport(outcome, mustBeNew: true)
    } while try wait.asksAgain(after: report, session)
    if let words = try report.words(session, client) { throw words }
    throw Failure(
      .refused, "the provider gave no id_token that lasts long enough",
      advice: "Some providers give one at the sign-in alone: \(.loginAgain).")
  }

  private func kept(_ client: Client, _ session: CommandSession) throws(Failure) -> BearerToken? {
    guard let text = try session.read(client).idToken?.reveal(), let end = Self.end(of: text),
      end - session.now > minimumLifetime
    else { return nil }
    return BearerToken(text: text, expiresAt: end)
  }

  /// The claim `exp` (RFC 7519 §4.1.4). The library has verified the token.
  static func end(of token: String) -> Int64? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])),
      let claims = try? JSON.parse(bytes)
    else { return nil }
    return claims["exp"]?.integer
  }
}
