// `enroll-gateway accounts`: an operator's commands about one account, which work whether gateways run or not. Each
// command writes an audit entry with the address `operator`. The output contains no token, code or secret.

import EnrollArguments
import EnrollRules
import EnrollGateway
import EnrollJSON
import EnrollPosix

enum AccountsCommand {
  private static let json = Parameter.flag("json", help: "Print JSON, with times in seconds since 1970.")
  private static let id = Parameter<String>.operand("id", help: "The account's id.")
  private static let what = Parameter<String>.operand(
    "what", help: "An e-mail address, an account id, or the provider's name, a colon and the user's sub.")
  private static let yes = Parameter.flag("yes", help: "Do not ask for confirmation.")

  static let command = Command(
    "accounts",
    "Find, show, export and delete accounts, and end their sessions. The audit log records each use.",
    subcommands: [find, show, sessions, endSessions, delete, export])

  private static func command(
    _ name: String, _ abstract: String, _ arguments: [Argument],
    _ work: @escaping @Sendable (AccountAdministration, Values) throws(EnrollError) -> Void
  ) -> Command {
    Command(name, abstract, arguments: arguments + [json.argument, GatewayCommand.config.argument]) {
      values in
      GatewayCommand.status { () throws(EnrollError) in
        let administration = try AccountAdministration(values[GatewayCommand.config])
        defer { administration.close() }
        try work(administration, values)
      }
    }
  }

  private static let find = command(
    "find", "Find accounts by an e-mail address, an id, or PROVIDER:SUBJECT.", [what.argument]
  ) { (administration, values) throws(EnrollError) in
    let found = try administration.find(values[what])
    guard values[json] else { return found.forEach { AccountText.write($0) } }
    AccountText.write(json: .object([("accounts", .array(found.map { $0.json }))]))
  }

  private static let show = command(
    "show", "Show an account: its identities, and how many sessions it has.", [id.argument]
  ) { (administration, values) throws(EnrollError) in
    write(try administration.show(values[id]), values)
  }

  private static func write(_ shown: AccountAdministration.Shown, _ values: Values) {
    values[json] ? AccountText.write(json: shown.json) : AccountText.write(shown)
  }

  private static let sessions = command(
    "sessions", "List the live sessions of an account.", [id.argument]
  ) { (administration, values) throws(EnrollError) in
    let sessions = try administration.sessions(values[id])
    guard values[json] else { return AccountText.write(sessions) }
    AccountText.write(json: .object([("sessions", .array(sessions.map { AccountCopy.json($0) }))]))
  }

  private static let endSessions = command(
    "end-sessions", "End every session of an account, in browsers and apps, at its next request.",
    [id.argument]
  ) { (administration, values) throws(EnrollError) in
    let count = try administration.endSessions(values[id])
    guard values[json] else {
      return StandardStream.printLine("\(count) \(count == 1 ? "session was" : "sessions were") ended.")
    }
    AccountText.write(json: .object([("ended", .integer(Int64(count)))]))
  }

  private static let delete = command(
    "delete", "Delete an account and all its data. The gateway tells the user by e-mail.",
    [id.argument, yes.argument]
  ) { (administration, values) throws(EnrollError) in
    if !values[yes] {
      write(try administration.show(values[id]), values)
      try ask()
    }
    let deleted = try administration.delete(values[id])
    guard values[json] else { return StandardStream.printLine("The account was deleted.") }
    AccountText.write(json: .object([("deleted", .string(deleted.text))]))
  }

  private static func ask() throws(EnrollError) {
    StandardStream.printLine("Delete this account? Nobody can undo it. Type yes to go on.", to: 2)
    guard let answer = readLine(), ASCII.equals(answer, "yes") else {
      throw EnrollError(
        .invalidArgument,
        "Nothing was deleted. The command expected the answer yes on standard input, or the option --yes.")
    }
  }

  private static let export = command(
    "export", "Print the data stored about an account as JSON, for the user who requested it.",
    [id.argument]
  ) { (administration, values) throws(EnrollError) in
    AccountText.write(json: try administration.export(values[id]))
  }
}
