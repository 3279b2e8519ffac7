// Answers a program's question: finds the account that is meant, and returns its token, or the reason why there is no
// token.

import EnrollCrypto
import EnrollHost
import EnrollRules

/// A question to `enroll credential`, with the hosts that may get a token.
struct CredentialAnswering {
  let format: CredentialFormat
  /// The words that the program added to the command line.
  let words: [String]
  /// The hosts of the option `--host`; nil if the profiles name them.
  let named: CredentialHosts?
  let profiles: ProfileHosts?
  /// Why the profiles' hosts could not be read. In that case no host counts as named, and the program can still ask
  /// its other helpers.
  var failure: Failure?
  let username: String
  let token: TokenCommand
  /// The command's name, for advice to run it again.
  let name: String

  /// The decision about a question.
  private enum Decision {
    case say(CredentialAnswer)
    case answer(TokenCommand, username: String)
  }

  /// Answers the question.
  /// - Returns: the exit status, one of ``CommandStatus``.
  func run() -> Int32 {
    let hosts = named ?? profiles?.hosts ?? CredentialHosts(named: [])
    let question = format.read(CredentialCall(words: words, hosts: hosts))
    var token = token
    let decision: Result<Decision, Failure>
    do throws(Failure) {
      let decided = try decide(question, hosts)
      if case .answer(let chosen, _) = decided { token = chosen }
      decision = .success(decided)
    } catch {
      decision = .failure(error)
    }
    var request = token.request
    request.attempt = [name]
    return Run.perform(request) { session throws(Failure) in
      do throws(Failure) {
        switch try decision.get() {
        case .say(let answer): return say(answer)
        case .answer(let token, let username):
          try CredentialRun(question: question, token: token, username: username, session: session).perform()
          return .done
        }
      } catch {
        Output.write(question.failed(error), to: 1)
        guard question.failsInWords else { throw error }
        Terminal.errors.tell(error, session.said)
        return .done
      }
    }
  }

  private func decide(
    _ question: CredentialQuestion, _ hosts: CredentialHosts
  ) throws(Failure) -> Decision {
    if case .none = question.wish { return .say(question.nothing) }
    var nothing = question.nothing
    nothing.words = failure?.message ?? profiles?.unread ?? nothing.words
    if question.isAboutAllHosts {
      guard !hosts.named.isEmpty else { return .say(nothing) }
    } else {
      guard let target = question.target else { return .say(question.nothing) }
      if let invalid = profiles?.failure(target) { throw invalid }
      switch hosts.answer(target) {
      case .allowed: break
      case .foreign: return .say(nothing)
      case .refused(let words):
        nothing.words = words
        return .say(nothing)
      }
    }
    guard let profiles else { return .answer(token, username: username) }
    let target = question.isAboutAllHosts ? nil : question.target
    guard let host = try profiles.only(target, format.name) else { return .say(nothing) }
    return .answer(token.at(host), username: host.username ?? username)
  }

  private func say(_ answer: CredentialAnswer) -> CommandStatus {
    Output.write(answer.output, to: 1)
    if let words = answer.words { Terminal.errors.say("enroll: \(words)", in: .bad) }
    return answer.status
  }
}

/// Answers a question that asks for a token, or reports that a token was rejected.
private struct CredentialRun {
  let question: CredentialQuestion
  let token: TokenCommand
  let username: String
  let session: CommandSession

  func perform() throws(Failure) {
    switch question.wish {
    case .token, .none: try answer()
    case .another:
      try replace()
      try answer()
    case .rejected(let refused): try reject(refused, try session.open())
    }
  }

  private func answer() throws(Failure) {
    Output.write(question.answer(try token.require(session).token, username), to: 1)
  }

  /// Reports that the host rejected the token. After this call the client returns a new token.
  private func reject(_ refused: String, _ client: Client) throws(Failure) {
    let audience = try token.audience(client)
    _ = try session.run { cancellation throws(EnrollError) in
      try client.rejected(
        Secret(refused), for: audience, until: client.usualDeadline, cancellation: cancellation)
    }
  }

  /// Rejects the current token, unless this token has just replaced a rejected token, because a third token would not
  /// help either. The library has the same rule, but only within a process, and each question runs in a separate
  /// process.
  private func replace() throws(Failure) {
    let notes = RenewalNotes()
    let client = try session.open()
    guard let present = try present(client),
      !notes.isReplacement(present, within: Self.secondsBetweenRenewals, of: session.now)
    else { return }
    try reject(present, client)
    if let next = try self.present(client), next != present {
      notes.add(replacement: next, at: session.now)
    }
  }

  /// The current token: the stored access token or, with scopes, the token for these scopes. nil if there is no token.
  private func present(_ client: Client) throws(Failure) -> String? {
    guard token.scope != nil else { return try session.read(client).accessToken?.reveal() }
    var token = token
    (token.minimumLifetime, token.lastsHalf) = (0, false)
    return try token.ask(session).report.token
  }

  private static let secondsBetweenRenewals: Int64 = 60
}
