// The signed-in user, the provider, and the expiry.

import EnrollArguments
import EnrollCore
import EnrollJSON
import EnrollPosix

struct Status: EnrollCommand {
  private static let allAccounts = Parameter.flag(
    "all", help: "Show every account in the store, with its profile.")

  static let command = Command(
    "status", "Show who is signed in, at which provider, and until when.",
    discussion: "Renews a token that is due first. The exit status is 0 if a user is signed in, else 3.",
    arguments: [allAccounts.argument], groups: [ContextOptions.group], action: run)

  let place: PlaceOptions
  private let all: Bool

  init(_ values: Values) throws(UsageError) {
    place = try ContextOptions.read(values)
    all = values[Self.allAccounts]
    if all, place.account != nil { throw UsageError("--all and --account exclude each other.") }
  }

  var attempt: [String] { ["status"] + (all ? ["--all"] : []) }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    if all { return try performAll(session) }
    let status = try OneStatus(
      session, account: session.place.account, configuration: try session.configuration(),
      asksPIN: true)
    if session.isJSON {
      Output.json(status.json(session, configuration: session.place.configurationPath))
    } else {
      status.tell(session, profile: session.place.configurationName, session.said)
    }
    return status.standing.ending
  }

  /// The exit status is that of the first account that is not well.
  private func performAll(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let list = try AccountList(session, isAboutAll: place.profile == nil && place.config == nil)
    var ending = CommandStatus.done
    var found: [JSON] = []
    for row in list.rows {
      if let problem = row.problem {
        if ending == .done { ending = problem.ending }
        found.append(.object([("account", .string(row.name)), ("problem", problem.errorJSON)]))
        if !session.isJSON {
          let terminal = Terminal.output
          terminal.say(
            "\(terminal.signs.bad) \(Shown.text(row.name)): \(Shown.text(problem.message))", in: .bad)
        }
        continue
      }
      guard row.isSignedIn || row.waits, let configuration = row.configuration else { continue }
      let status = try OneStatus(session, account: row.name, configuration: configuration, asksPIN: false)
      if ending == .done { ending = status.standing.ending }
      let path = row.profile.flatMap { try? UserDirectories.configurationPath($0) }
      found.append(status.json(session, configuration: path ?? session.place.configurationPath))
      guard !session.isJSON else { continue }
      var said = session.said
      if let profile = row.profile { said.place += ["--profile", profile] }
      said.place += ["--account", row.name]
      status.tell(session, profile: row.profile ?? session.place.configurationName, said)
    }
    if session.isJSON {
      Output.json(.object([("accounts", .array(found)), ("error", list.damage?.errorJSON)]))
    } else if found.isEmpty {
      Terminal.output.say("No user is signed in.")
    }
    if let damage = list.damage {
      guard session.isJSON else { throw damage }
      return damage.ending
    }
    return found.isEmpty ? .signInNeeded : ending
  }
}

/// The status of one account.
private struct OneStatus {
  let account: String
  let standing: AccountStatus
  private let state: JSON?
  private let kept: JSON
  private let issuer: String?
  private let keyProviders: JSON?

  init(
    _ session: CommandSession, account: String, configuration: JSON, asksPIN: Bool
  ) throws(Failure) {
    self.account = account
    let client = try session.open(configuration, account: account, asksPIN: asksPIN)
    defer { session.close(client) }
    state = try session.call(
      "registration.state", [("client", client), ("timeout", .integer(15))], saying: "Looking at the account"
    )["state"]
    kept = try session.call("account.read", [("client", client)])
    let found = try session.call("store.diagnose", session.storeParameters)
    keyProviders = found["keyProviders"]
    issuer = configuration.issuer
    standing = AccountStatus(state ?? .null, kept: kept, obstacle: found["problem"], now: session.now)
  }

  func json(_ session: CommandSession, configuration: String) -> JSON {
    .object([
      ("account", .string(account)), ("state", state), ("profile", kept["profile"]),
      ("expiresAt", kept["expiresAt"]), ("renews", kept["renews"]),
      ("renewableUntil", kept["renewableUntil"]), ("waiting", kept["waiting"]),
      ("configuration", .string(configuration)),
      ("issuer", issuer.map { .string($0) }), ("store", .string(session.place.store)),
      ("keyProviders", keyProviders), ("exitStatus", .integer(Int64(standing.ending.rawValue))),
    ])
  }

  func tell(_ session: CommandSession, profile: String, _ said: Said) {
    let terminal = Terminal.output
    terminal.say("\(standing.sign(terminal.signs)) \(standing.headline)", in: standing.colour)
    let rows: [(name: String, value: String)] = [
      ("account", Shown.text(account)), ("provider", Shown.text(issuer ?? "?")), ("profile", profile),
      ("token", standing.token), ("store", session.place.store),
      ("key", keyProviders?.array.map { KeyWords.list($0) } ?? "none yet"),
    ]
    for line in Layout.table(rows, width: terminal.width) { Output.line(line) }
    if let advice = standing.advice { terminal.say(advice.text(said)) }
  }
}

extension JSON {
  /// A configuration's provider, in whatever spelling, or by its name.
  var issuer: String? {
    (try? Configuration(json: self))?.issuer.text
      ?? ["issuer", "discovery_uri", "discoveryUri"].lazy.compactMap { self[$0]?.string }.first
  }
}
