// The request for an id_token, for programs that use one as a credential, such as a Kubernetes API server. In OpenID
// Connect, an id_token is only for the client itself. Here the user decides to pass the id_token to another program.

import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON

/// The request for an id_token that has not expired.
struct IDTokenRequest {
  var minimumLifetime: Int64
  var timeout: Int64
  /// Whether the user set the timeout. If so, the command uses all of it.
  var isTimeoutNamed: Bool
  /// Whether to ignore the stored id_token.
  var renews: Bool
  /// As in ``TokenCommand``.
  var renewsIfAskedWithin: Int64?
  /// Whether no warning is printed.
  var isQuiet = false

  /// Returns the stored id_token, or an id_token from a renewal. An id_token is renewed as early as an access token.
  /// If the renewal fails, the old id_token is returned until it expires.
  /// - Throws: `.refused` if the provider issues no id_token that lasts long enough.
  func perform(_ client: Client, _ session: CommandSession) throws(Failure) -> BearerToken {
    guard let span = renewsIfAskedWithin else { return try find(client, session, refused: nil) }
    let notes = RenewalNotes()
    let before = try kept(client, session)?.token.text
    let refused = before.flatMap { notes.isAskedAgain($0, within: span, of: session.now) ? $0 : nil }
    let token = try find(client, session, refused: refused)
    if let refused, token.text != refused { notes.add(replacement: token.text, at: session.now) }
    notes.add(printed: token.text, at: session.now)
    return token
  }

  /// - Parameter refused: an id_token that is renewed although it is fresh.
  private func find(
    _ client: Client, _ session: CommandSession, refused: String?
  ) throws(Failure) -> BearerToken {
    let before = try kept(client, session)
    // Another process may have renewed the id_token by now.
    let isAskedAgain = before.map { $0.token.text == refused } ?? false
    let access = isAskedAgain ? before?.accessToken : nil
    if !renews, !isAskedAgain, let before, before.lasts { return before.token }
    let notes = RenewalNotes()
    if !renews, let before, notes.hasNoSuccessor(before.token.text) {
      guard before.isValid else { throw Self.noLaterOne }
      return before.token
    }
    var wait = TokenWait(seconds: timeout, isNamed: isTimeoutNamed, session)
    var report: TokenReport
    repeat {
      let seconds = wait.secondsLeft(session)
      let outcome = try session.run { cancellation throws(EnrollError) in
        let deadline = client.deadline(afterSeconds: seconds)
        guard let access else { return try client.refresh(until: deadline, cancellation: cancellation) }
        return try client.replace(access, until: deadline, cancellation: cancellation)
      }
      report = TokenReport(outcome, mustBeNew: true)
      if let renewed = try kept(client, session) {
        let isOther = renewed.token.text != before?.token.text
        if isOther, renewed.isValid || isNewlyIssued(renewed, after: before) { return renewed.token }
        // A provider may issue equal id_tokens within one second. If this machine's clock was set after the first one,
        // the second one seems to have expired.
        if !isOther, !isAskedAgain, !renewed.isValid, renewed.isRecent, report.ending == .done {
          return renewed.token
        }
      }
    } while try wait.asksAgain(after: report, session)
    let words = report.ending == .done ? nil : try report.words(session, client)
    if words == nil, let before { notes.add(withoutSuccessor: before.token.text) }
    if !renews, let before, before.isValid {
      if let words, !isQuiet {
        Terminal.errors.tell(
          Failure(.done, "the id_token could not be renewed, but still works: \(words.message)"), session.said
        )
      }
      return before.token
    }
    throw words ?? Self.noLaterOne
  }

  /// Whether a renewal gave a later id_token whose lifetime is long enough. Only the lifetime counts here: after a
  /// change of a clock, the id_token may seem to have expired until the next response confirms the difference of the
  /// clocks.
  private func isNewlyIssued(_ renewed: Kept, after before: Kept?) -> Bool {
    guard let before, let lifetime = renewed.lifetime else { return false }
    return renewed.end >= before.end && lifetime > minimumLifetime
  }

  private static var noLaterOne: Failure {
    Failure(
      .refused, "the provider gave no id_token that lasts long enough",
      advice: "Some providers give one at the sign-in alone: \(.loginAgain).")
  }

  private struct Kept {
    let token: BearerToken
    /// The access token that was stored with the id_token.
    let accessToken: Secret?
    /// Whether the id_token is printed without a renewal: it is not yet due for renewal, and lasts as long as the
    /// caller wants.
    let lasts: Bool
    /// Whether the id_token is printed if a renewal gives no other id_token: it may be due for renewal, but lasts as
    /// long as the caller wants.
    let isValid: Bool
    /// `exp`, in seconds since 1970.
    let end: Int64
    /// The seconds from `iat` to `exp`; nil for an id_token without `iat`.
    let lifetime: Int64?
    /// Whether the id_token was issued a moment ago, by this machine's clock, and its lifetime is long enough. The
    /// stored difference of the clocks is not used, because it is wrong after this machine's clock was set.
    let isRecent: Bool
  }

  private func kept(_ client: Client, _ session: CommandSession) throws(Failure) -> Kept? {
    let snapshot = try session.read(client)
    guard let text = snapshot.idToken?.reveal(), let end = Self.end(of: text) else { return nil }
    // The claim follows the provider's clock. Programs that get the id_token compare it with this machine's clock.
    let ownEnd = UnixTime(seconds: end).since(UnixTime(seconds: snapshot.serverClockOffsetSeconds ?? 0))
    let issued = Self.time(of: "iat", in: text)
    let lifetime = issued.map { end - $0 }
    let margin = BearerToken.margin(
      graceSeconds: client.configuration.graceSeconds, lifetimeSeconds: lifetime)
    let left = ownEnd - session.now
    return Kept(
      token: BearerToken(text: text, expiresAt: ownEnd, margin: margin, now: session.now),
      accessToken: snapshot.accessToken, lasts: left > max(minimumLifetime, margin),
      isValid: left > minimumLifetime, end: end, lifetime: lifetime,
      isRecent: (lifetime ?? 0) > minimumLifetime
        && issued.map { Self.isRecent($0, at: session.now) } ?? false)
  }

  private static func isRecent(_ issued: Int64, at now: Int64) -> Bool {
    UnixTime(seconds: now).since(UnixTime(seconds: issued)).magnitude <= 10
  }

  /// The claim `exp` (RFC 7519 §4.1.4). The library has verified the token.
  static func end(of token: String) -> Int64? { time(of: "exp", in: token) }

  private static func time(of claim: String, in token: String) -> Int64? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])),
      let claims = try? JSON.parse(bytes)
    else { return nil }
    return claims[claim]?.integer
  }
}
