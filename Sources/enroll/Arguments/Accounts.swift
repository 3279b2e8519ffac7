// The accounts of a store.

import ArgumentParser
import EnrollJSON

struct Accounts: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the accounts in the store, and who they are.",
    discussion: "The one that other commands take by themselves has a star. Asks no provider.")

  @OptionGroup(title: "Place") var place: PlaceOptions

  func perform(_ door: Door) throws(Failure) -> Ending {
    let listed = try door.call("accounts.list", door.storeParameters)["accounts"]?.array ?? []
    var rows: [(name: String, kept: JSON, problem: Failure?)] = []
    for name in listed.compactMap({ $0.string }) {
      do throws(Failure) {
        let client = try door.open(account: name, asksPIN: false)
        rows.append((name, try door.call("account.read", [("client", client)]), nil))
      } catch {
        guard error.ending != .interrupted else { throw error }
        rows.append((name, .null, error))
      }
    }
    if door.isJSON {
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
      let advice = Ending.signInNeeded.advice?.text(door.said) ?? ""
      Terminal.errors.say("No accounts in \(door.place.store). \(advice)")
    }
    let table = rows.map { row in
      (
        name: (row.name == door.place.account ? "* " : "  ") + Shown.text(row.name),
        value: row.problem.map { Shown.text($0.message) }
          ?? (row.kept["profile"] == nil
            ? "not signed in at this provider" : Shown.person(row.kept["profile"]))
      )
    }
    for line in Layout.table(table, width: Terminal.output.width) { Output.line(line) }
    return .done
  }
}
