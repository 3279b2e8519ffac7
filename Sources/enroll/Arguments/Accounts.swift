// The accounts of a store.

import EnrollRules
import EnrollArguments
import EnrollCommands
import EnrollJSON

struct Accounts: EnrollCommand {
  static let command = Command(
    "accounts", "List the accounts in the store and their users.",
    discussion:
      "A star marks the account that other commands use by default. Sends no request to a provider.",
    groups: [ContextOptions.group], action: run)

  let place: PlaceOptions

  init(_ values: Values) throws(UsageError) { place = try ContextOptions.read(values) }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let list = try AccountList(session, isAboutAll: false)
    if session.isJSON {
      Output.json(
        .object([
          (
            "accounts",
            .array(
              list.rows.map { row in
                .object([
                  ("account", .string(row.name)), ("profile", row.kept?.profile.map { .object($0) }),
                  ("expiresAt", row.kept?.expiresAt.map { .integer($0.seconds) }),
                  ("waiting", row.kept?.waiting?.json),
                  ("configuration", row.profile.map { .string($0) }), ("problem", row.problem?.errorJSON),
                ])
              })
          ), ("error", list.damage?.errorJSON),
        ]))
      return list.damage?.ending ?? .done
    }
    if list.rows.isEmpty, list.damage == nil {
      let advice = CommandStatus.signInNeeded.advice?.text(session.said) ?? ""
      Terminal.errors.say("No accounts in \(session.place.store). \(advice)")
    }
    let table = list.rows.map { row in
      (
        name: (isUsed(row, session.place) ? "* " : "  ") + Shown.text(row.name),
        value: row.problem.map { Shown.message($0.message) }
          ?? row.people + (row.profile.map { " (profile \($0))" } ?? "")
      )
    }
    for line in Layout.table(table, width: Terminal.output.width) { Output.line(line) }
    if let damage = list.damage { throw damage }
    return .done
  }

  /// Whether commands that name no account use the account in this row.
  private func isUsed(_ row: AccountList.Row, _ place: Context) -> Bool {
    row.name == place.account && (!place.isChosen || row.profile == place.configurationName)
  }
}
