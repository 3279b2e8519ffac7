// `enroll-gateway accounts`: what an operator does with one account, while gateways serve or not. Each command leaves an entry in the audit,
// with the address `operator`. Nothing that is written has a token, a code or a secret.

import EnrollArguments
import EnrollCore
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
    _ work: @escaping @Sendable (AccountDesk, Values) throws(EnrollError) -> Void
  ) -> Command {
    Command(name, abstract, arguments: arguments + [json.argument, GatewayCommand.config.argument]) {
      values in
      GatewayCommand.status { () throws(EnrollError) in
        let desk = try AccountDesk(values[GatewayCommand.config])
        defer { desk.close() }
        try work(desk, values)
      }
    }
  }

  private static let find = command(
    "find", "Find accounts by an e-mail address, an id, or PROVIDER:SUBJECT.", [what.argument]
  ) { (desk, values) throws(EnrollError) in
    let found = try desk.find(values[what])
    guard values[json] else { return found.forEach { AccountText.write($0) } }
    AccountText.write(json: .object([("accounts", .array(found.map { $0.json }))]))
  }

  private static let show = command(
    "show", "Show an account: its identities, and how many sessions it has.", [id.argument]
  ) { (desk, values) throws(EnrollError) in
    write(try desk.show(values[id]), values)
  }

  private static func write(_ shown: AccountDesk.Shown, _ values: Values) {
    values[json] ? AccountText.write(json: shown.json) : AccountText.write(shown)
  }

  private static let sessions = command(
    "sessions", "List the live sessions of an account.", [id.argument]
  ) { (desk, values) throws(EnrollError) in
    let sessions = try desk.sessions(values[id])
    guard values[json] else { return AccountText.write(sessions) }
    AccountText.write(json: .object([("sessions", .array(sessions.map { AccountCopy.json($0) }))]))
  }

  private static let endSessions = command(
    "end-sessions", "End every session of an account, in browsers and apps, at its next request.",
    [id.argument]
  ) { (desk, values) throws(EnrollError) in
    let count = try desk.endSessions(values[id])
    guard values[json] else {
      return StandardStream.say("\(count) \(count == 1 ? "session was" : "sessions were") ended.")
    }
    AccountText.write(json: .object([("ended", .integer(Int64(count)))]))
  }

  private static let delete = command(
    "delete", "Delete an account and all its data. The gateway tells the user by e-mail.",
    [id.argument, yes.argument]
  ) { (desk, values) throws(EnrollError) in
    if !values[yes] {
      write(try desk.show(values[id]), values)
      try ask()
    }
    let deleted = try desk.delete(values[id])
    guard values[json] else { return StandardStream.say("The account was deleted.") }
    AccountText.write(json: .object([("deleted", .string(deleted))]))
  }

  private static func ask() throws(EnrollError) {
    StandardStream.say("Delete this account? Nobody can undo it. Type yes to go on.", to: 2)
    guard let answer = readLine(), ASCII.equals(answer, "yes") else {
      throw EnrollError(
        .invalidArgument,
        "Nothing was deleted. The command expected the answer yes on standard input, or the option --yes.")
    }
  }

  private static let export = command(
    "export", "Print the data stored about an account as JSON, for the user who requested it.",
    [id.argument]
  ) { (desk, values) throws(EnrollError) in
    AccountText.write(json: try desk.export(values[id]))
  }
}
