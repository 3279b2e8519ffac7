// `enroll-gateway accounts`: what an operator does with one account, while gateways serve or not. Each command leaves an entry in the audit,
// with the address `operator`. Nothing that is written has a token, a code or a secret.

import ArgumentParser
import EnrollCore
import EnrollGateway
import EnrollJSON
import EnrollPosix

struct Accounts: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Find, show, export and delete accounts, and end their sessions. The audit log records each use.",
    subcommands: [
      Find.self, Show.self, Sessions.self, EndSessions.self, Delete.self, Export.self,
    ])
}

/// What every command about accounts takes.
struct AccountOptions: ParsableArguments {
  @OptionGroup var file: ConfigOption
  @Flag(help: "Print JSON, with times in seconds since 1970.")
  var json = false

  func atDesk(_ work: (AccountDesk) throws(EnrollError) -> Void) throws {
    try told { () throws(EnrollError) in
      let desk = try AccountDesk(file.config)
      defer { desk.close() }
      try work(desk)
    }
  }
}

extension Accounts {
  struct Find: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Find accounts by an e-mail address, an id, or PROVIDER:SUBJECT.")

    @OptionGroup var options: AccountOptions
    @Argument(help: "An e-mail address, an account id, or the provider's name, a colon and the user's sub.")
    var what: String

    func run() throws {
      try options.atDesk { (desk) throws(EnrollError) in
        let found = try desk.find(what)
        guard options.json else { return found.forEach { AccountText.write($0) } }
        AccountText.write(json: .object([("accounts", .array(found.map { $0.json }))]))
      }
    }
  }

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show an account: its identities, and how many sessions it has.")

    @OptionGroup var options: AccountOptions
    @Argument(help: "The account's id.") var id: String

    func run() throws {
      try options.atDesk { (desk) throws(EnrollError) in
        let shown = try desk.show(id)
        options.json ? AccountText.write(json: shown.json) : AccountText.write(shown)
      }
    }
  }

  struct Sessions: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the live sessions of an account.")

    @OptionGroup var options: AccountOptions
    @Argument(help: "The account's id.") var id: String

    func run() throws {
      try options.atDesk { (desk) throws(EnrollError) in
        let sessions = try desk.sessions(id)
        guard options.json else { return AccountText.write(sessions) }
        AccountText.write(
          json: .object([("sessions", .array(sessions.map { AccountCopy.json($0) }))]))
      }
    }
  }

  struct EndSessions: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "End every session of an account, in browsers and apps, at its next request.")

    @OptionGroup var options: AccountOptions
    @Argument(help: "The account's id.") var id: String

    func run() throws {
      try options.atDesk { (desk) throws(EnrollError) in
        let count = try desk.endSessions(id)
        guard options.json else {
          return StandardStream.say("\(count) \(count == 1 ? "session was" : "sessions were") ended.")
        }
        AccountText.write(json: .object([("ended", .integer(Int64(count)))]))
      }
    }
  }

  struct Delete: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Delete an account and all its data. The gateway tells the user by e-mail."
    )

    @OptionGroup var options: AccountOptions
    @Argument(help: "The account's id.") var id: String
    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    func run() throws {
      try options.atDesk { (desk) throws(EnrollError) in
        if !yes {
          let shown = try desk.show(id)
          options.json ? AccountText.write(json: shown.json) : AccountText.write(shown)
          try Self.ask()
        }
        let deleted = try desk.delete(id)
        guard options.json else { return StandardStream.say("The account was deleted.") }
        AccountText.write(json: .object([("deleted", .string(deleted))]))
      }
    }

    private static func ask() throws(EnrollError) {
      StandardStream.say("Delete this account? Nobody can undo it. Type yes to go on.", to: 2)
      guard let answer = readLine(), ASCII.equals(answer, "yes") else {
        throw EnrollError(
          .invalidArgument,
          "Nothing was deleted. The command expected the answer yes on standard input, or the option --yes."
        )
      }
    }
  }

  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the data stored about an account as JSON, for the user who requested it.")

    @OptionGroup var options: AccountOptions
    @Argument(help: "The account's id.") var id: String

    func run() throws {
      try options.atDesk { (desk) throws(EnrollError) in
        AccountText.write(json: try desk.export(id))
      }
    }
  }
}
