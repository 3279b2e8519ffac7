// The token for scripts: one line on standard output, or none.

import EnrollJSON

/// A token that works for whoever has it (RFC 6750).
struct BearerToken {
  var text: String
  /// Seconds since 1970; nil where the provider does not tell.
  var expiresAt: Int64?
}

/// The token that `enroll token` prints, and other commands hand on.
struct TokenCommand {
  /// The seconds that may be named.
  static let lifetimes: ClosedRange<Int64> = 0...31_536_000
  static let timeouts: ClosedRange<Int64> = 0...86_400
  static let usualTimeout: Int64 = 30

  /// Seconds for which the token must still be valid.
  var minimumLifetime: Int64 = 0
  /// Seconds to wait for it.
  var timeout: Int64 = Self.usualTimeout
  /// Whether the user named that time, and wants it used.
  var isTimeoutNamed = false
  /// Whether it is renewed whatever its age.
  var renew = false
  var resource: String?
  /// Separated by spaces.
  var scope: String?
  var place = PlaceOptions()

  var request: CommandRequest {
    CommandRequest(
      // Where the resource's profile is, if that is meant.
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

  /// Asks for the token.
  /// - Returns: what came, what to say about it, and the client that was asked.
  func ask(
    _ session: CommandSession
  ) throws(Failure) -> (report: TokenReport, words: Failure?, client: JSON) {
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
    _ session: CommandSession, _ client: JSON, _ seconds: Int64, startsHere: Bool
  ) throws(Failure) -> TokenReport {
    var parameters: [(String, JSON?)] = [
      ("client", client), ("scope", scope.map { .string($0) }), ("timeout", .integer(seconds)),
    ]
    if !renew { parameters.append(("minimumLifetime", .integer(minimumLifetime))) }
    let answer = try session.call(
      renew ? "token.refresh" : "token.access", parameters, startsHere: startsHere)
    return TokenReport(answer, mustBeNew: renew)
  }

  /// The token, for a command that is of no use without one. A warning about it is told.
  /// - Throws: why there is none.
  func require(_ session: CommandSession) throws(Failure) -> (token: BearerToken, client: JSON) {
    let (report, words, client) = try ask(session)
    guard let text = report.token else {
      throw words ?? Failure(report.ending, "there is no token")
    }
    guard report.isBearer else {
      throw Failure(
        .refused, "the token is bound to a key (DPoP), and only Bearer tokens can be handed on",
        advice: "A configuration with \"dpop\": \"never\" gives Bearer tokens, at the next sign-in.")
    }
    if let words { Terminal.errors.tell(words, session.said) }
    return (BearerToken(text: text, expiresAt: report.expiresAt), client)
  }

  /// A token for anything else than the named resource is of no use.
  private func requireSignIn(_ session: CommandSession) throws(Failure) {
    guard let resource else { return }
    let configuration = try session.place.hasConfiguration() ? session.configuration() : nil
    let present = configuration?["resource"]?.string
    if present == resource { return }
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
