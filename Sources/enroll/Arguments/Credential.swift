// `enroll credential FORMAT`: programs that ask a command for a credential get a token, for the hosts that a command-line
// option names.

import EnrollArguments
import EnrollCrypto
import EnrollHost
import EnrollRules

struct Credential {
  private static let allowedHosts = Parameter.repeated(
    "host", value: "host",
    help:
      "A host that receives the token, with its port if it has one, or a URL such as smtp://mail.example:587. Repeatable."
  )
  private static let defaultUsername = Parameter.option(
    "username", value: "name", help: "The user name to return if the program names none.", default: "oauth2")
  private static let loopbackHTTP = Parameter.flag(
    "allow-loopback-http", help: "Also allow http to a server on this machine.")

  static let command = Command(
    "credential", "Give a valid access token to a program that asks a command for a credential.",
    discussion: """
      Each format is a protocol of other programs. The token goes only to the hosts that you name; for any other host the \
      program gets its own word for no credential. If there is no token, standard error and the exit status say why, as \
      for enroll token.
      """,
    subcommands: CredentialFormat.all.map { command($0.name, "For \($0.programs).", $0) })

  /// The earlier spelling of `credential git`.
  static let gitCredential = command("git-credential", "The earlier spelling of credential git.", .git)

  private static func command(_ name: String, _ abstract: String, _ format: CredentialFormat) -> Command {
    Command(
      name, abstract,
      discussion: format.setup,
      arguments: [allowedHosts.argument] + (format.hasUsername ? [defaultUsername.argument] : [])
        + [loopbackHTTP.argument] + LastingToken.arguments + format.arguments,
      groups: [ContextOptions.group]
    ) { values throws(UsageError) in
      let credential = try Credential(values, format, name)
      return Run.perform(credential.request) { session throws(Failure) in try credential.perform(session) }
    }
  }

  private let format: CredentialFormat
  private let call: CredentialCall
  private let token: TokenCommand
  private let name: String

  private init(_ values: Values, _ format: CredentialFormat, _ name: String) throws(UsageError) {
    self.format = format
    self.name = name
    token = LastingToken.command(values, at: try ContextOptions.read(values))
    let hosts = values[Self.allowedHosts]
    let username = values[Self.defaultUsername]
    if hosts.isEmpty {
      throw UsageError("No host is named. The token goes to those alone that --host names.")
    }
    if let host = hosts.first(where: { NamedHost($0) == nil }) {
      throw UsageError(
        "--host expects a host as git names it, such as git.example or git.example:8443, or with a protocol, such as smtp://mail.example:587; got \(PrintableText.bounded(host, maximumBytes: 100))."
      )
    }
    if username.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw UsageError("--username must be one line of text.")
    }
    call = CredentialCall(
      words: format.arguments.flatMap { values.words($0) },
      hosts: CredentialHosts(
        named: hosts.compactMap { NamedHost($0) }, allowsLoopbackHTTP: values[Self.loopbackHTTP]),
      username: username)
  }

  private var request: CommandRequest {
    var request = token.request
    request.attempt = [name]
    return request
  }

  private func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let question = try format.read(call)
    if case .none = question.wish { return say(question.nothing) }
    if !question.isAboutAllHosts {
      guard let target = question.target else { return say(question.nothing) }
      switch call.hosts.answer(target) {
      case .allowed: break
      case .foreign: return say(question.nothing)
      case .refused(let words):
        var nothing = question.nothing
        nothing.words = words
        return say(nothing)
      }
    }
    do throws(Failure) {
      switch question.wish {
      case .token, .none: try answer(question, session)
      case .another:
        try replace(session)
        try answer(question, session)
      case .rejected(let refused): try reject(refused, session, try session.open())
      }
      return .done
    } catch {
      Output.write(question.failed(error), to: 1)
      guard question.failsInWords else { throw error }
      Terminal.errors.tell(error, session.said)
      return .done
    }
  }

  private func answer(_ question: CredentialQuestion, _ session: CommandSession) throws(Failure) {
    Output.write(question.answer(try token.require(session).token), to: 1)
  }

  /// The host rejected the token, so the next token will be a new one.
  private func reject(_ refused: String, _ session: CommandSession, _ client: Client) throws(Failure) {
    _ = try session.run { cancellation throws(EnrollError) in
      try client.rejected(Secret(refused), until: client.usualDeadline, cancellation: cancellation)
    }
  }

  /// Rejects the present token, unless it has just replaced a rejected one: then a third would not help. The library
  /// has the same rule, but each question of a program is a process of its own.
  private func replace(_ session: CommandSession) throws(Failure) {
    let notes = RenewalNotes()
    let client = try session.open()
    guard let present = try session.read(client).accessToken?.reveal(),
      !notes.isReplacement(present, within: Self.secondsBetweenRenewals, of: session.now)
    else { return }
    try reject(present, session, client)
    if let next = try session.read(client).accessToken?.reveal(), next != present {
      notes.add(replacement: next, at: session.now)
    }
  }

  private static let secondsBetweenRenewals: Int64 = 60

  private func say(_ answer: CredentialAnswer) -> CommandStatus {
    Output.write(answer.output, to: 1)
    if let words = answer.words { Terminal.errors.say("enroll: \(words)", in: .bad) }
    return answer.status
  }
}

/// The options for a token that lasts for a request of some time, such as a large push.
private enum LastingToken {
  private static let lifetime = Parameter.option(
    "min-lifetime", value: "seconds",
    help: "Seconds for which the token must still be valid at the start. By default half of its lifetime.",
    in: TokenCommand.lifetimes)
  private static let wait = Parameter.option(
    "timeout", value: "seconds", help: "Seconds to wait for the token.", in: TokenCommand.timeouts,
    default: TokenCommand.usualTimeout)

  static let arguments = [
    lifetime.argument, wait.argument, WantedToken.resource.argument, WantedToken.scope.argument,
  ]

  static func command(_ values: Values, at place: PlaceOptions) -> TokenCommand {
    TokenCommand(
      minimumLifetime: values[lifetime] ?? 0, lastsHalf: values[lifetime] == nil, timeout: values[wait],
      isTimeoutNamed: values.has(wait), resource: values[WantedToken.resource],
      scope: values[WantedToken.scope], place: place)
  }
}
