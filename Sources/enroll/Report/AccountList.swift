// The accounts of a store, each with the profile that its user is signed in with.

import EnrollCore
import EnrollJSON
import EnrollPosix

struct AccountList {
  private(set) var rows: [Row] = []
  /// What was set aside because it was damaged.
  private(set) var damage: Failure?

  struct Row {
    var name: String
    var kept = JSON.null
    /// The profile that the user is signed in with, where several were looked through.
    var profile: String?
    var configuration: JSON?
    var problem: Failure?

    var isSignedIn: Bool { kept["profile"] != nil || kept["expiresAt"] != nil }
    /// A sign-in waits for the user's confirmation.
    var waits: Bool { kept["waiting"] != nil }

    /// The user who is signed in, and the one who is asked to confirm.
    var people: String {
      let user = isSignedIn ? Shown.person(kept["profile"]) : "not signed in at this provider"
      guard let waiting = kept["waiting"] else { return user }
      return "\(user); \(Shown.person(waiting["profile"])) waits for confirmation"
    }
  }

  private typealias Profile = (name: String?, configuration: JSON)

  /// - Parameter isAboutAll: all profiles count, even if one is in use.
  init(_ session: CommandSession, isAboutAll: Bool) throws(Failure) {
    let names: [JSON]
    (names, damage) = try Self.names(session)
    let profiles = names.isEmpty ? [] : try Self.profiles(session, isAboutAll: isAboutAll)
    for name in names.compactMap({ $0.string }) { rows.append(try Self.row(name, profiles, session)) }
  }

  /// The names, and what is damaged: one listing sets that aside, and the next has all others.
  private static func names(_ session: CommandSession) throws(Failure) -> (names: [JSON], damage: Failure?) {
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

  /// The configuration in use. If there is none, all profiles: the accounts in the store belong to them.
  /// - Throws: `.usage` if the file that the user named does not exist, or if there is no profile at all.
  private static func profiles(_ session: CommandSession, isAboutAll: Bool) throws(Failure) -> [Profile] {
    if !isAboutAll, !session.place.isChosen {
      let isNamed =
        session.place.configurationName != "default" || session.place.configurationPath == "default"
      let isThere = try session.place.hasConfiguration()
      if isNamed || isThere { return [(nil, try session.configuration())] }
    }
    var found: [Profile] = []
    for name in Candidates.allProfiles {
      if let configuration = try? UserDirectories.configuration(name) { found.append((name, configuration)) }
    }
    guard found.isEmpty else { return found }
    return [(nil, try session.configuration())]
  }

  /// With the first profile with which the account is signed in, or else a sign-in waits.
  private static func row(
    _ name: String, _ profiles: [Profile], _ session: CommandSession
  ) throws(Failure) -> Row {
    var row = Row(name: name)
    var waiting: Row?
    for profile in profiles {
      do throws(Failure) {
        let client = try session.open(profile.configuration, account: name, asksPIN: false)
        defer { session.close(client) }
        let kept = try session.call("account.read", [("client", client)])
        let found = Row(name: name, kept: kept, profile: profile.name, configuration: profile.configuration)
        if found.isSignedIn { return found }
        if found.waits, waiting == nil { waiting = found }
        row.problem = nil
      } catch {
        guard error.ending != .interrupted else { throw error }
        row.problem = error
      }
    }
    return waiting ?? row
  }
}
