// `enroll setup TOOL HOST`: writes the lines that make a tool ask this program for a token.

import EnrollArguments
import EnrollJSON
import EnrollPosix
import EnrollRules

struct Setup {
  private static let host = Parameter.operand(
    "host", help: "The host that gets the token, with its port if it has one.")
  private static let prints = Parameter.flag("print", help: "Only show the changes.")
  private static let removes = Parameter.flag("remove", help: "Undo the changes.")
  private static let confirmed = Parameter.flag(
    "yes", letter: "y", help: "For scripts: make the changes without asking.")
  private static let username = Parameter.option(
    "username", value: "name", help: "The user name to return if the tool names none.")

  static let command = Command(
    "setup", "Make another program get its token from enroll.",
    discussion: """
      Shows what it will change, asks, and changes it: the tool's configuration, by the tool's own command if it has one, and \
      the profile if the tool passes no arguments. A second run changes nothing. If another helper or user is set up for the \
      host, or if the configuration has a form that the command cannot read, the command changes nothing, and shows the lines \
      to write by hand. enroll credential describes what is written.
      """,
    subcommands: SetupTool.all.map { command($0) })

  private static func command(_ tool: SetupTool) -> Command {
    Command(
      tool.name, tool.summary,
      arguments: [host.argument, prints.argument, removes.argument, confirmed.argument]
        + (tool.takesUsername ? [username.argument] : [])
        + (tool.takesResource ? [WantedToken.resource.argument] : [])
        + (tool.hasCommandLine ? [WantedToken.login.argument] : []), groups: [ContextOptions.group]
    ) { values throws(UsageError) in
      let setup = try Setup(values, tool)
      return Run.perform(setup.request) { session throws(Failure) in try setup.perform(session) }
    }
  }

  private let tool: SetupTool
  private let host: NamedHost
  private let values: (prints: Bool, removes: Bool, isConfirmed: Bool, signsIn: Bool)
  private let username: String?
  private let resource: String?
  private let place: PlaceOptions

  private init(_ values: Values, _ tool: SetupTool) throws(UsageError) {
    self.tool = tool
    guard let host = NamedHost(values[Self.host]) else {
      throw UsageError(
        "HOST is a host, such as git.example or git.example:8443; got \(PrintableText.bounded(values[Self.host], maximumBytes: 100))."
      )
    }
    self.host = host
    self.values = (
      values[Self.prints], values[Self.removes], values[Self.confirmed],
      values[WantedToken.login]
    )
    // The parser accepts only the options that the tool's command has.
    username = values[Self.username]
    resource = values[WantedToken.resource]
    place = try ContextOptions.read(values)
    if place.passphraseFD != nil || place.pinFD != nil {
      throw UsageError(
        "--passphrase-fd and --pin-fd are for one command: the tool's later commands have none.")
    }
    if !tool.hasCommandLine, place.config != nil || place.store != nil || place.keys != nil {
      throw UsageError(
        "\(tool.name) passes no options on, so --config, --store and --keys would be lost. The profile names the host: choose it by --profile."
      )
    }
  }

  private var request: CommandRequest {
    CommandRequest(
      place: place.at(resource, mustExist: true), mayAsk: false, resource: resource,
      attempt: ["setup", tool.name, host.text] + (values.removes ? ["--remove"] : []))
  }

  private func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    var options = try place.lastingWords()
    if let resource { options += ArgumentWords.option("--resource", resource) }
    if values.signsIn { options.append("--login") }
    if !tool.hasCommandLine, !values.removes, let resource, !ResourceProfile.exists(for: resource),
      try !ResourceProfile.serves(session.configuration(), resource)
    {
      throw Failure(
        .usage, "no profile is for \(Shown.text(resource))",
        advice: "Run \(.loginAtResource) once, or name its profile by --profile.")
    }
    let request = SetupRequest(
      host: host, options: options, username: username, resource: resource, account: account(session),
      session: session)
    func plan() throws(Failure) -> SetupPlan { try values.removes ? tool.remove(request) : tool.add(request) }
    guard values.isConfirmed, !values.prints else { return try perform(try plan(), again: plan, session) }
    let lock = try ProfileLock.taken(session)
    defer { lock?.end() }
    return try perform(try plan(), again: plan, session)
  }

  /// The account for the profile's entry; nil for the default account.
  private func account(_ session: CommandSession) -> String? {
    let chosen = session.place.isChosen && session.place.account != "default" ? session.place.account : nil
    return place.account ?? Environment.process["ENROLL_ACCOUNT"] ?? chosen
  }

  /// Shows a plan, and carries it out if the user agrees.
  /// - Parameter again: makes the plan again after the user's answer, because another program may have changed
  ///   something in the meantime.
  private func perform(
    _ planned: SetupPlan, again: () throws(Failure) -> SetupPlan, _ session: CommandSession
  ) throws(Failure) -> CommandStatus {
    var plan = planned
    if let remainder = plan.remainder {
      guard !plan.steps.isEmpty else {
        throw Failure(.failed, remainder.text, advice: Advice(stringLiteral: remainder.advice))
      }
      plan.notes.append("\(remainder.text). \(remainder.advice)")
    }
    guard !plan.steps.isEmpty else {
      if session.isJSON { Output.json(Self.json(plan, isDone: false)) }
      for note in plan.notes { Terminal.errors.say("! \(Shown.message(note))", in: .warning) }
      Terminal.errors.say("\(Terminal.errors.signs.good) There is nothing to change.", in: .good)
      return .done
    }
    if !session.isJSON {
      for line in plan.lines { Output.line(Shown.message(line)) }
    }
    for note in plan.notes { Terminal.errors.say("! \(Shown.message(note))", in: .warning) }
    guard !values.prints else {
      if session.isJSON { Output.json(Self.json(plan, isDone: false)) }
      return .done
    }
    if !values.isConfirmed {
      guard Terminal.hasPerson else {
        throw Failure(
          .usage, "there is no terminal to ask at, and nothing was changed",
          advice: "--yes makes the changes without asking.")
      }
      switch Prompt.choice("Make these changes?", default: true, session.waits) {
      case .yes: break
      case .no: throw Failure(.notFinished, "nothing was changed")
      case .interrupted: throw Failure(.interrupted, "interrupted; nothing was changed")
      }
    }
    // With --yes, the lock was taken before the plan was made.
    let lock = values.isConfirmed ? nil : try ProfileLock.taken(session)
    defer { lock?.end() }
    guard try again() == planned else {
      throw Failure(
        .failed, "another program has changed the configuration meanwhile, and nothing is changed",
        advice: "Run the command again, which shows the changes first.")
    }
    try plan.perform()
    guard try again().steps.isEmpty else {
      throw Failure(
        .failed,
        "the changes were made, and \(tool.name)'s configuration does not have them: "
          + "another program has changed it meanwhile, or \(tool.name) does not save where it reads",
        advice: "Run the command again with --print, which shows what is missing.")
    }
    if session.isJSON { Output.json(Self.json(plan, isDone: true)) }
    Terminal.errors.say("\(Terminal.errors.signs.good) Done.", in: .good)
    return .done
  }

  private static func json(_ plan: SetupPlan, isDone: Bool) -> JSON {
    .object([
      ("changes", .array(plan.lines.map { .string($0) })), ("notes", .array(plan.notes.map { .string($0) })),
      ("done", .bool(isDone)),
    ])
  }
}
