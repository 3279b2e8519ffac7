// The accounts of a store.

import ArgumentParser
import EnrollCore
import EnrollJSON
import EnrollPosix

struct Accounts: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the accounts in the store and their users.",
    discussion: "A star marks the account that other commands use by default. Sends no request to a provider."
  )

  @OptionGroup(title: "Context") var place: ContextOptions

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let (listed, damage) = try listed(session)
    var rows: [Row] = []
    let profiles = try profiles(session, areNeeded: !listed.isEmpty)
    for name in listed.compactMap({ $0.string }) {
      rows.append(try row(name, profiles, session))
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
                  ("expiresAt", row.kept["expiresAt"]),
                  ("configuration", row.profile.map { .string($0) }), ("problem", row.problem?.errorJSON),
                ])
              })
          ), ("error", damage?.errorJSON),
        ]))
      return damage?.ending ?? .done
    }
    if rows.isEmpty, damage == nil {
      let advice = CommandStatus.signInNeeded.advice?.text(session.said) ?? ""
      Terminal.errors.say("No accounts in \(session.place.store). \(advice)")
    }
    let table = rows.map { row in
      (
        name: (row.name == session.place.account ? "* " : "  ") + Shown.text(row.name),
        value: row.problem.map { Shown.text($0.message) }
          ?? (row.isSignedIn ? Shown.person(row.kept["profile"]) : "not signed in at this provider")
          + (row.profile.map { " (profile \($0))" } ?? "")
      )
    }
    for line in Layout.table(table, width: Terminal.output.width) { Output.line(line) }
    if let damage { throw damage }
    return .done
  }

  /// The names, and what is damaged: one listing sets that aside, and the next has all others.
  private func listed(_ session: CommandSession) throws(Failure) -> (names: [JSON], damage: Failure?) {
    var damage: Failure?
    while true {
      do throws(Failure) {
        return (try session.call("accounts.list", session.storeParameters)["accounts"]?.array ?? [], damage)
      } catch {
        guard damage == nil, error.error?.code == .storeCorrupt else { throw error }
        damage = error
      }
    }
  }

  private struct Row {
    var name: String
    var kept = JSON.null
    /// The profile that the user is signed in with, where it is not the one in use.
    var profile: String?
    var problem: Failure?

    var isSignedIn: Bool { kept["profile"] != nil || kept["expiresAt"] != nil }
  }

  /// The configuration in use. If there is none, all profiles: the accounts in the store belong to them.
  /// - Throws: `.usage` if the file that the user named does not exist, or if there is no profile at all.
  private func profiles(
    _ session: CommandSession, areNeeded: Bool
  ) throws(Failure) -> [(name: String?, configuration: JSON)] {
    guard areNeeded else { return [] }
    let isNamed =
      session.place.configurationName != "default" || session.place.configurationPath == "default"
    let isThere = try session.place.hasConfiguration()
    if isNamed || isThere { return [(nil, try session.configuration())] }
    var found: [(name: String?, configuration: JSON)] = []
    for name in Candidates.allProfiles {
      if let configuration = try? UserDirectories.configuration(name) { found.append((name, configuration)) }
    }
    guard found.isEmpty else { return found }
    return [(nil, try session.configuration())]
  }

  /// The first profile with which the account is signed in.
  private func row(
    _ name: String, _ profiles: [(name: String?, configuration: JSON)], _ session: CommandSession
  ) throws(Failure) -> Row {
    var row = Row(name: name)
    for profile in profiles {
      do throws(Failure) {
        let client = try session.open(profile.configuration, account: name, asksPIN: false)
        defer { session.close(client) }
        let kept = try session.call("account.read", [("client", client)])
        let found = Row(name: name, kept: kept, profile: profile.name)
        if found.isSignedIn { return found }
        row.problem = nil
      } catch {
        guard error.ending != .interrupted else { throw error }
        row.problem = error
      }
    }
    return row
  }
}
