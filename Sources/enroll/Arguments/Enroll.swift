// The program, and the protocol that its commands conform to: a command has options that choose its configuration and
// account, and when it has run it returns an exit status.

import CPosix
import EnrollArguments
import EnrollHost
import EnrollJSON
import EnrollPosix

enum Enroll {
  static let program = Program(
    Command(
      "enroll", "Sign in through the browser once, then get a valid token at any time.",
      discussion: """
        The first time: enroll login --issuer URL --client-id ID. From then on:

          token=$(enroll token) &&
          curl -H "Authorization: Bearer $token" https://api.example/

        Every command but completions accepts --json. For exit statuses and files see the manual: man enroll.
        """,
      subcommands: [
        Login.command, Register.command, Token.command, Exec.command, Curl.command, Credential.command,
        Credential.gitCredential, Setup.command, MCP.command, Status.command, Accounts.command,
        Switch.command,
        Logout.command, Doctor.command, Completions.command,
      ]),
    version: LibraryVersion.string, usageStatus: CommandStatus.usage.rawValue)

  /// Reads the arguments of this process, and runs the command.
  /// - Returns: the exit status, which is a value of ``CommandStatus``.
  static func run() -> Int32 {
    let asksJSON = ProcessArguments.arguments()?.prefix { $0 != "--" }.contains("--json") ?? false
    if let complaint = Encoding.complaint() {
      refuse("enroll: \(complaint)\n", asksJSON)
      return CommandStatus.usage.rawValue
    }
    guard let given = ProcessArguments.arguments() else {
      Terminal.errors.say("enroll: the system does not tell this program its arguments")
      return CommandStatus.failed.rawValue
    }
    if let status = DetachedCommand.run(given) ?? SignInHelper.run(given) { return status }
    let words = ProgramName.words(given)
    let status = program.run(
      words, width: Terminal.output.width, output: { Output.write($0, to: STDOUT_FILENO) },
      errors: { text in
        refuse(text, asksJSON)
        if CargoRequest.first != nil { Output.write(CargoRequest.refusal(message(text)), to: STDOUT_FILENO) }
      })
    return status == 0 ? (Output.failure ?? .done).rawValue : status
  }

  /// The text of an error about an invalid command line, reduced to its message.
  private static func message(_ text: String) -> String {
    let line = text.split(separator: "\n").first ?? ""
    return String(line.split(separator: ":", maxSplits: 1).last?.drop { $0 == " " } ?? "")
  }

  /// Prints the error of an invalid command line.
  /// - Parameter text: `enroll token: why`, the usage, and a hint.
  private static func refuse(_ text: String, _ asksJSON: Bool) {
    guard asksJSON else { return Output.write(text, to: STDERR_FILENO) }
    let lines = text.split(separator: "\n")
    Output.json(
      .object([
        ("error", .object([("message", .string(message(text)))])),
        ("advice", lines.count > 1 ? lines.last.map { .string(String($0)) } : nil),
        ("exitStatus", .integer(Int64(CommandStatus.usage.rawValue))),
      ]))
  }
}

/// A command that uses the session.
protocol EnrollCommand {
  /// The command's name, options and help.
  static var command: Command { get }

  /// Makes the command from the values of its options.
  /// - Throws: a usage error if the options contradict each other.
  init(_ values: Values) throws(UsageError)

  var place: PlaceOptions { get }
  /// The provider from the command line, if the command accepts one.
  var provider: ProviderArguments? { get }
  /// The resource of the requested tokens, if there is one.
  var resource: String? { get }
  /// The command's name and its own options, for advice to run the command again.
  var attempt: [String] { get }
  var request: CommandRequest { get }
  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus
}

extension EnrollCommand {
  var provider: ProviderArguments? { nil }
  var resource: String? { provider?.resource }
  var attempt: [String] { [Self.command.name] }

  var request: CommandRequest {
    // If the resource has a profile, the command uses this profile.
    var place = place.at(resource, mustExist: provider == nil)
    place.namesProvider = !(provider?.words ?? []).isEmpty
    return CommandRequest(
      place: place, provider: provider?.named, resource: resource, attempt: attempt)
  }

  /// - Returns: the exit status, which is a value of ``CommandStatus``.
  static func run(_ values: Values) throws(UsageError) -> Int32 {
    let command = try Self(values)
    return Run.perform(command.request) { session throws(Failure) in try command.perform(session) }
  }
}
