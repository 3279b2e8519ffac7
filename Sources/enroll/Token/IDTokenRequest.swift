// The id_token, for what takes one as a password: a Kubernetes API server, say. It is for the client itself, by OpenID Connect; who
// hands it to others decides so.

import EnrollCore
import EnrollJSON

/// An id_token that has not ended yet.
struct IDTokenRequest {
  var minimumLifetime: Int64
  var timeout: Int64
  /// Whether the user named that time, and wants it used.
  var isTimeoutNamed: Bool
  /// Whether the one that is kept does not count.
  var renews: Bool

  /// The one that is kept, or the one of a renewal.
  /// - Throws: `.refused` if the provider gives none that lasts long enough.
  func perform(_ client: JSON, _ session: CommandSession) throws(Failure) -> BearerToken {
    if !renews, let kept = try kept(client, session) { return kept }
    var wait = TokenWait(seconds: timeout, isNamed: isTimeoutNamed, session)
    var report: TokenReport
    repeat {
      let seconds = wait.secondsLeft(session)
      let answer = try session.call("token.refresh", [("client", client), ("timeout", .integer(seconds))])
      if let renewed = try kept(client, session) { return renewed }
      report = TokenReport(answer, mustBeNew: true)
    } while try wait.asksAgain(after: report, session)
    if let words = try report.words(session, client) { throw words }
    throw Failure(
      .refused, "the provider gave no id_token that lasts long enough",
      advice: "Some providers give one at the sign-in alone: \(.loginAgain).")
  }

  private func kept(_ client: JSON, _ session: CommandSession) throws(Failure) -> BearerToken? {
    let kept = try session.call("account.read", [("client", client)])
    guard let text = kept["idToken"]?.string, let end = Self.end(of: text),
      end - session.now > minimumLifetime
    else { return nil }
    return BearerToken(text: text, expiresAt: end)
  }

  /// The claim `exp` (RFC 7519 §4.1.4). The library has proven the token.
  static func end(of token: String) -> Int64? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])),
      let claims = try? JSON.parse(bytes)
    else { return nil }
    return claims["exp"]?.integer
  }
}
