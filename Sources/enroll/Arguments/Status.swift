// The command that shows the signed-in user, the provider, and the expiry.

import EnrollArguments
import EnrollCommands
import EnrollRules
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore

struct Status: EnrollCommand {
  private static let allAccounts = Parameter.flag(
    "all", help: "Show every account in the store, with its profile.")

  static let command = Command(
    "status", "Show who is signed in, at which provider, and until when.",
    discussion: "Renews a token that is due first. The exit status is 0 if a user is signed in, else 3.",
    arguments: [allAccounts.argument, ContextOptions.resource.argument], groups: [ContextOptions.group],
    action: run)

  let place: PlaceOptions
  let resource: String?
  private let all: Bool

  init(_ values: Values) throws(UsageError) {
    place = try ContextOptions.read(values)
    all = values[Self.allAccounts]
    resource = values[ContextOptions.resource]
    if all, place.account != nil { throw UsageError("--all and --account exclude each other.") }
    if all, resource != nil { throw UsageError("--all and --resource exclude each other.") }
  }

  var attempt: [String] { ["status"] + (all ? ["--all"] : []) }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    if all { return try performAll(session) }
    try session.requireSignIn(at: resource)
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

  /// Shows all accounts. The exit status is that of the first account with a problem.
  private func performAll(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let list = try AccountList(session, isAboutAll: place.profile == nil && place.config == nil)
    var ending = CommandStatus.done
    var found: [JSON] = []
    func add(_ problem: Failure, of account: String) {
      if ending == .done { ending = problem.ending }
      found.append(.object([("account", .string(account)), ("problem", problem.errorJSON)]))
      guard !session.isJSON else { return }
      let terminal = Terminal.output
      terminal.say(
        "\(terminal.signs.bad) \(Shown.text(account)): \(Shown.message(problem.message))", in: .bad)
    }
    for row in list.rows {
      if let problem = row.problem {
        add(problem, of: row.name)
        continue
      }
      guard row.isSignedIn || row.waits, let configuration = row.configuration else { continue }
      let status: OneStatus
      do throws(Failure) {
        status = try OneStatus(session, account: row.name, configuration: configuration, asksPIN: false)
      } catch {
        guard error.ending != .interrupted else { throw error }
        add(error, of: row.name)
        continue
      }
      if ending == .done { ending = status.standing.ending }
      let path = row.profile.flatMap { try? UserDirectories.configurationPath($0) }
      found.append(status.json(session, configuration: path ?? session.place.configurationPath))
      guard !session.isJSON else { continue }
      var said = session.said
      if let profile = row.profile { said.place += ["--profile", profile] }
      said.place += ArgumentWords.option("--account", row.name)
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
  private let state: JSON
  private let kept: AccountSnapshot
  private let issuer: String?
  private let keyProviders: [String]?

  init(
    _ session: CommandSession, account: String, configuration: ConfigurationDocument, asksPIN: Bool
  ) throws(Failure) {
    self.account = account
    let client = try session.open(configuration, account: account, asksPIN: asksPIN)
    defer { session.close(client) }
    let state = try session.state(client, within: 15, saying: "Looking at the account")
    self.state = state.json(choices: client.configuration.choices)
    kept = try session.readWithWaiting(client, configuration)
    let found = try session.storeDiagnosis()
    keyProviders = found?.keyProviders
    issuer = configuration.shownIssuer
    standing = AccountStatus(state, kept: kept, obstacle: found?.problem, now: session.now)
  }

  func json(_ session: CommandSession, configuration: String) -> JSON {
    .object(
      [("account", .string(account)), ("state", state)] + kept.session + [
        ("waiting", kept.waiting?.json), ("configuration", .string(configuration)),
        ("issuer", issuer.map { .string($0) }), ("store", .string(session.place.store)),
        ("keyProviders", keyProviders.map { .array($0.map { .string($0) }) }),
        ("exitStatus", .integer(Int64(standing.ending.rawValue))),
      ])
  }

  func tell(_ session: CommandSession, profile: String, _ said: Said) {
    let terminal = Terminal.output
    terminal.say("\(standing.sign(terminal.signs)) \(standing.headline)", in: standing.colour)
    var rows: [(name: String, value: String)] = [
      ("account", Shown.text(account)), ("provider", Shown.text(issuer ?? "?")), ("profile", profile),
      ("token", standing.token),
    ]
    if !kept.missingScopes.isEmpty {
      rows.append(("not granted", Shown.text(Scopes.joined(kept.missingScopes))))
    }
    rows.append(("store", session.place.store))
    rows.append(("key", keyProviders.map { KeyWords.list($0) } ?? "none yet"))
    for line in Layout.table(rows, width: terminal.width) { Output.line(line) }
    if let advice = standing.advice { terminal.say(advice.text(said)) }
  }
}
