// The access token for scripts: one line on standard output, or nothing.

import EnrollRules
import EnrollCommands
import EnrollHost
import EnrollJSON

/// A token that works for everyone who has it (RFC 6750).
struct BearerToken {
  var text: String
  /// Seconds since 1970; nil if the provider does not say.
  var expiresAt: Int64?
}

/// The token that `enroll token` prints, and that other commands pass on.
struct TokenCommand {
  /// The range of seconds that the option accepts.
  static let lifetimes: ClosedRange<Int64> = 0...31_536_000
  static let timeouts: ClosedRange<Int64> = 0...86_400
  static let usualTimeout: Int64 = 30

  /// Seconds for which the token must still be valid.
  var minimumLifetime: Int64 = 0
  /// Seconds to wait for the token.
  var timeout: Int64 = Self.usualTimeout
  /// Whether the user set the timeout, so that all of it is used.
  var isTimeoutNamed = false
  /// Whether to renew the token even if it is fresh.
  var renew = false
  var resource: String?
  /// The scopes, separated by spaces.
  var scope: String?
  var place = PlaceOptions()

  var request: CommandRequest {
    CommandRequest(
      // The profile of the resource, if there is one.
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
    try requireSignIn(session)
    let (client, isRead) = try session.openHere()
    var wait = TokenWait(seconds: timeout, isNamed: isTimeoutNamed, session)
    var report = try report(session, client, timeout, startsHere: isRead && !renew)
    while try wait.asksAgain(after: report, session) {
      report = try self.report(session, client, wait.secondsLeft(session), startsHere: false)
    }
    return (report, try report.words(session, client)?.guessing(request.place), client)
  }

  private func report(
    _ session: CommandSession, _ client: Client, _ seconds: Int64, startsHere: Bool
  ) throws(Failure) -> TokenReport {
    let audience = try audience(client)
    let (renew, minimumLifetime) = (renew, minimumLifetime)
    let outcome: AccessOutcome
    if startsHere {
      // The completion may run before this returns: a token that is not due needs no other thread.
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

  /// The audience of the option `--scope`; nil for the session's own token.
  private func audience(_ client: Client) throws(Failure) -> TokenAudience? {
    guard let scope else { return nil }
    return try Failure.wrapping { () throws(EnrollError) in
      try TextLimits.check(scope, "scope", TextLimits.scopes)
      return try client.configuration.audience(resource: nil, scopes: Scopes.split(scope))
    }
  }

  /// The token, for a command that needs one. A warning about the token is printed.
  /// - Throws: the reason why there is no token.
  func require(_ session: CommandSession) throws(Failure) -> (token: BearerToken, client: Client) {
    let (report, words, client) = try ask(session)
    guard let text = report.token else {
      throw words ?? Failure(report.ending, "there is no token")
    }
    guard report.isBearer else {
      throw Failure(
        .refused, "the token is bound to a key (DPoP), and only Bearer tokens can be handed on",
        advice: "Run \(.loginForBearer) for Bearer tokens.")
    }
    if let words { Terminal.errors.tell(words, session.said) }
    return (BearerToken(text: text, expiresAt: report.expiresAt), client)
  }

  /// Checks that a user has signed in at the named resource: a token for another resource would be useless.
  private func requireSignIn(_ session: CommandSession) throws(Failure) {
    guard let resource else { return }
    let configuration = try session.place.hasConfiguration() ? session.configuration() : nil
    let present = configuration?.resource
    if let configuration, ResourceProfile.serves(configuration, resource) { return }
    if configuration != nil, place.profile != nil || place.config != nil {
      throw Failure(
        .usage,
        "\(session.place.configurationName) is for \(present.map { Shown.text($0) } ?? "no resource"), not \(Shown.text(resource))",
        advice: "Leave out --profile and --config: enroll finds the resource's own profile.")
    }
    throw Failure(
      .signInNeeded, "nobody has signed in at the resource \(Shown.text(resource))",
      advice: "Run \(.loginAtResource) once.")
  }
}
