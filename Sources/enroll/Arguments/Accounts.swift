// The accounts of a store.

import ArgumentParser
import EnrollJSON

struct Accounts: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the accounts in the store and their users.",
    discussion: "A star marks the account that other commands use by default. Sends no request to a provider."
  )

  @OptionGroup(title: "Context") var place: ContextOptions

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let listed = try session.call("accounts.list", session.storeParameters)["accounts"]?.array ?? []
    var rows: [(name: String, kept: JSON, problem: Failure?)] = []
    for name in listed.compactMap({ $0.string }) {
      do throws(Failure) {
        let client = try session.open(account: name, asksPIN: false)
        rows.append((name, try session.call("account.read", [("client", client)]), nil))
      } catch {
        guard error.ending != .interrupted else { throw error }
        rows.append((name, .null, error))
      }
    }
    if session.isJSON {
      Output.json(
        .object([
          (
            "accounts",
            .array(
              rows.map { row in
                .object([
                  ("account", .string(row.name)), ("profile", row.kept["profile"]),
                  ("expiresAt", row.kept["expiresAt"]), ("problem", row.problem?.errorJSON),
                ])
              })
          )
        ]))
      return .done
    }
    if rows.isEmpty {
      let advice = CommandStatus.signInNeeded.advice?.text(session.said) ?? ""
      Terminal.errors.say("No accounts in \(session.place.store). \(advice)")
    }
    let table = rows.map { row in
      (
        name: (row.name == session.place.account ? "* " : "  ") + Shown.text(row.name),
        value: row.problem.map { Shown.text($0.message) }
          ?? (row.kept["profile"] == nil
            ? "not signed in at this provider" : Shown.person(row.kept["profile"]))
      )
    }
    for line in Layout.table(table, width: Terminal.output.width) { Output.line(line) }
    return .done
  }
}
