// The accounts of a store, each with the profile with which its user is signed in.

import EnrollRules
import EnrollJSON
import EnrollPosix

struct AccountList {
  private(set) var rows: [Row] = []
  /// The error about a record that was damaged and set aside.
  private(set) var damage: Failure?

  struct Row {
    var name: String
    /// The stored data of the account; nil if the account could not be read.
    var kept: AccountSnapshot?
    /// The profile with which the user is signed in, if several profiles were checked.
    var profile: String?
    var configuration: ConfigurationDocument?
    var problem: Failure?

    var isSignedIn: Bool { kept?.isSignedIn ?? false }
    /// Whether a sign-in waits for the user's confirmation.
    var waits: Bool { kept?.waiting != nil }

    /// The user who is signed in, and the user who is asked to confirm.
    var people: String {
      let user = isSignedIn ? Shown.person(kept?.profile) : "not signed in at this provider"
      guard let waiting = kept?.waiting else { return user }
      return "\(user); \(Shown.person(waiting.profile)) waits for confirmation"
    }
  }

  private typealias Profile = (name: String?, configuration: ConfigurationDocument)

  /// Reads the accounts of the store.
  /// - Parameter isAboutAll: whether all profiles are checked, even if one is in use.
  init(_ session: CommandSession, isAboutAll: Bool) throws(Failure) {
    let names: [String]
    (names, damage) = try Self.names(session)
    let profiles = names.isEmpty ? [] : try Self.profiles(session, isAboutAll: isAboutAll)
    for name in names { rows.append(try Self.row(name, profiles, session)) }
  }

  /// The names, and the error about a damaged record: the first listing sets the record aside, and a second listing
  /// returns all other accounts.
  private static func names(_ session: CommandSession) throws(Failure) -> (names: [String], damage: Failure?)
  {
    var damage: Failure?
    while true {
      do throws(Failure) {
        return (try session.accountNames(), damage)
      } catch {
        guard damage == nil, error.error?.code == .storeCorrupt else { throw error }
        damage = error
      }
    }
  }

  /// The configuration in use; if no configuration is in use, the configurations of all profiles.
  /// - Throws: `.usage` if there is no configuration at all.
  static func configurations(_ session: CommandSession) throws(Failure) -> [ConfigurationDocument] {
    try profiles(session, isAboutAll: false).map { $0.configuration }
  }

  /// The configuration in use; if no configuration is in use, all profiles, because each account in the store belongs
  /// to one profile.
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
      if let configuration = try? UserDirectories.configuration(name) {
        found.append((name, ConfigurationDocument(configuration)))
      }
    }
    guard found.isEmpty else { return found }
    return [(nil, try session.configuration())]
  }

  /// The account with its profile: the first profile whose user is signed in. If nobody is signed in, the first
  /// profile with a sign-in that waits for confirmation.
  private static func row(
    _ name: String, _ profiles: [Profile], _ session: CommandSession
  ) throws(Failure) -> Row {
    var row = Row(name: name)
    var waiting: Row?
    for profile in profiles {
      do throws(Failure) {
        let client = try session.open(profile.configuration, account: name, asksPIN: false)
        defer { session.close(client) }
        let found = Row(
          name: name, kept: try session.readWithWaiting(client, profile.configuration), profile: profile.name,
          configuration: profile.configuration)
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

extension AccountSnapshot {
  /// Whether the account has a session: its token, or the data of its user.
  var isSignedIn: Bool { accessToken != nil || expiresAt != nil || profile != nil || idToken != nil }
}
