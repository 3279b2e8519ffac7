// Gets the access token for scripts: prints it as one line on standard output, or prints nothing.

import EnrollRules
import EnrollCommands
import EnrollCrypto
import EnrollHost
import EnrollJSON

/// A token that anyone who has it can use (RFC 6750).
struct BearerToken {
  var text: String
  /// The expiry in seconds since 1970; nil if the provider does not say when the token expires.
  var expiresAt: Int64?
  /// The time at which a program that keeps the token should ask for a token again. It is earlier than the expiry,
  /// because clocks differ and requests take time. nil if ``expiresAt`` is nil.
  var askAgainAt: Int64?

  /// - Parameter margin: how many seconds before its expiry the token is due for renewal.
  init(text: String, expiresAt: Int64?, margin: Int64, now: Int64) {
    self.text = text
    self.expiresAt = expiresAt
    // A token that is due may be returned, because it could not be renewed. The program should then ask again soon, but
    // not for each request.
    askAgainAt = expiresAt.map { min($0, max($0 - margin, now + Self.shortestUse)) }
  }

  private static let shortestUse: Int64 = 5

  /// How many seconds before its expiry the library renews an access token with this lifetime (flows.md §8).
  static func margin(graceSeconds: Int64, lifetimeSeconds: Int64?) -> Int64 {
    min(graceSeconds, (lifetimeSeconds ?? graceSeconds * 2) / 2)
  }
}

/// The token that `enroll token` prints, and that other commands pass on.
struct TokenCommand {
  /// The range of seconds that the option accepts.
  static let lifetimes: ClosedRange<Int64> = 0...31_536_000
  static let timeouts: ClosedRange<Int64> = 0...86_400
  static let usualTimeout: Int64 = 30

  /// The number of seconds for which the token must still be valid.
  var minimumLifetime: Int64 = 0
  /// Whether the token must be valid for half of its lifetime, for requests that take long.
  var lastsHalf = false
  /// The number of seconds that the command waits for the token.
  var timeout: Int64 = Self.usualTimeout
  /// Whether the user set the timeout. If so, the command uses all of it.
  var isTimeoutNamed = false
  /// Whether to renew the token even if it is fresh.
  var renew = false
  /// The seconds of `--renew-if-asked-again`; nil without the option. The token is renewed if a command with
  /// this option printed the same token less than this many seconds ago.
  var renewsIfAskedWithin: Int64?
  var resource: String?
  /// The scopes, separated by spaces.
  var scope: String?
  /// Whether a user who is not signed in is asked to sign in.
  var signsIn = false
  var place = PlaceOptions()

  var request: CommandRequest {
    CommandRequest(
      // If the resource has a profile, the command uses it.
      place: place.at(resource, mustExist: true), mayAsk: false, resource: resource, attempt: ["token"])
  }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let (report, words, _) = try ask(session)
    if session.isJSON {
      Output.json(report.json(words, session.said))
    } else if let token = report.token {
      Output.line(token)
    }
    if let words { Terminal.errors.tell(words, session.said) }
    return report.ending
  }

  /// Requests the token.
  /// - Returns: the outcome, the message about it, and the client that was used.
  func ask(
    _ session: CommandSession
  ) throws(Failure) -> (report: TokenReport, words: Failure?, client: Client) {
    guard signsIn else { return try askStored(session) }
    return try LoginOnDemand.around(session, request, isWanted: true) { () throws(Failure) in
      let found = try askStored(session)
      guard found.report.token == nil, found.report.ending == .signInNeeded else { return found }
      session.close(found.client)
      throw found.words ?? Failure(.signInNeeded, "nobody is signed in")
    }
  }

  private func askStored(
    _ session: CommandSession
  ) throws(Failure) -> (report: TokenReport, words: Failure?, client: Client) {
    try session.requireSignIn(at: resource)
    let (client, isRead) = try session.openHere()
    var wait = TokenWait(seconds: timeout, isNamed: isTimeoutNamed, session)
    let minimum = try lastsHalf && isRead ? half(session, client) : minimumLifetime
    var report = try report(session, client, minimum, timeout, startsHere: isRead && !renew, renew)
    while try wait.asksAgain(after: report, session) {
      report = try self.report(session, client, minimum, wait.secondsLeft(session), startsHere: false, renew)
    }
    if let span = renewsIfAskedWithin, let token = report.token {
      let notes = RenewalNotes()
      if !renew, notes.isAskedAgain(token, within: span, of: session.now) {
        let renewed = try replace(Secret(token), session, client, wait.secondsLeft(session))
        // If the token cannot be renewed, the old token is used. It may still be valid, because many programs ask again
        // although no server refused it.
        if let next = renewed.token {
          report = renewed
          notes.add(replacement: next, at: session.now)
        }
      }
      notes.add(printed: report.token ?? token, at: session.now)
    }
    return (report, try report.words(session, client)?.guessing(request.place), client)
  }

  private func report(
    _ session: CommandSession, _ client: Client, _ minimumLifetime: Int64, _ seconds: Int64, startsHere: Bool,
    _ renew: Bool
  ) throws(Failure) -> TokenReport {
    let audience = try audience(client)
    let outcome: AccessOutcome
    if startsHere {
      // The completion may run before this call returns, because a token that is not due needs no other thread.
      outcome = try session.answer { cancellation, done in
        client.access(
          minimumLifetimeSeconds: minimumLifetime, for: audience,
          until: client.deadline(afterSeconds: seconds), cancellation: cancellation, completion: done)
      }
    } else {
      outcome = try session.run { cancellation throws(EnrollError) in
        let deadline = client.deadline(afterSeconds: seconds)
        guard !renew else {
          return try client.refresh(for: audience, until: deadline, cancellation: cancellation)
        }
        return try client.access(
          minimumLifetimeSeconds: minimumLifetime, for: audience, until: deadline, cancellation: cancellation)
      }
    }
    return TokenReport(outcome, mustBeNew: renew)
  }

  private func replace(
    _ token: Secret, _ session: CommandSession, _ client: Client, _ seconds: Int64
  ) throws(Failure) -> TokenReport {
    let audience = try audience(client)
    let outcome = try session.run { cancellation throws(EnrollError) in
      try client.replace(
        token, for: audience, until: client.deadline(afterSeconds: seconds), cancellation: cancellation)
    }
    return TokenReport(outcome, mustBeNew: true)
  }

  /// Half of the lifetime of the session's token, in seconds; 0 if the lifetime is not known.
  private func half(_ session: CommandSession, _ client: Client) throws(Failure) -> Int64 {
    let snapshot = try session.runningHere { () throws(Failure) in try session.read(client) }
    return (snapshot.lifetimeSeconds ?? 0) / 2
  }

  /// The audience of the option `--scope`; nil for the session's own token.
  func audience(_ client: Client) throws(Failure) -> TokenAudience? {
    guard let scope else { return nil }
    return try Failure.wrapping { () throws(EnrollError) in
      try TextLimits.check(scope, "scope", TextLimits.scopes)
      return try client.configuration.audience(resource: nil, scopes: Scopes.split(scope))
    }
  }

  /// The token, for a command that needs one. A warning about the token is printed.
  /// - Parameter isQuiet: true to print no warning. This is for a program that reads standard error as a part of the
  ///   answer.
  /// - Throws: the reason why there is no token.
  func require(
    _ session: CommandSession, isQuiet: Bool = false
  ) throws(Failure) -> (token: BearerToken, client: Client) {
    let (report, words, client) = try ask(session)
    guard let text = report.token else {
      throw words ?? Failure(report.ending, "there is no token")
    }
    guard report.isBearer else {
      throw Failure(
        .refused, "the token is bound to a key (DPoP), and only Bearer tokens can be handed on",
        advice: "Run \(.loginForBearer) for Bearer tokens.")
    }
    if let words, !isQuiet { Terminal.errors.tell(words, session.said) }
    return (try bearer(text, expiresAt: report.expiresAt, session, client), client)
  }

  /// Makes a token with the time at which a program should ask for a token again.
  private func bearer(
    _ text: String, expiresAt: Int64?, _ session: CommandSession, _ client: Client
  ) throws(Failure) -> BearerToken {
    let lifetime = try session.runningHere { () throws(Failure) in try session.read(client).lifetimeSeconds }
    let margin = BearerToken.margin(
      graceSeconds: client.configuration.graceSeconds, lifetimeSeconds: lifetime)
    return BearerToken(text: text, expiresAt: expiresAt, margin: margin, now: session.now)
  }
}
