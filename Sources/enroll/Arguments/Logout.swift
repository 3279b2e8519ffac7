// Logging out: here at once, at the provider as soon as it can be told, in the browser where that is asked for.

import EnrollArguments
import EnrollJSON

struct Logout: EnrollCommand {
  private static let allAccounts = Parameter.flag(
    "all", help: "Sign out every account in the store that is signed in at this provider.")
  private static let browserToo = Parameter.flag(
    "browser", help: "Also end the browser's session through the provider's page.")

  static let command = Command(
    "logout", "Sign out: erase the tokens here and revoke them at the provider.",
    discussion: """
      The browser has its own session at the provider: --browser opens the page that ends it. If the provider \
      cannot be reached, the tokens are revoked later. It is not an error if no user is signed in.
      """, arguments: [allAccounts.argument, browserToo.argument], groups: [ContextOptions.group], action: run
  )

  let place: PlaceOptions
  private let all: Bool
  private let browser: Bool

  init(_ values: Values) throws(UsageError) {
    place = try ContextOptions.read(values)
    all = values[Self.allAccounts]
    browser = values[Self.browserToo]
    if all, place.account != nil { throw UsageError("--all and --account exclude each other.") }
  }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    var ended: [JSON] = []
    guard try session.place.hasStore() else {
      _ = try session.configuration()
      return tell(ended, session)
    }
    var names = [session.place.account]
    if all {
      names =
        try session.call("accounts.list", session.storeParameters)["accounts"]?.array?.compactMap {
          $0.string
        }
        ?? []
    }
    for name in names {
      if let one = try end(name, session) { ended.append(one) }
    }
    return tell(ended, session)
  }

  /// - Returns: what came of it; nil where nobody was signed in.
  private func end(_ name: String, _ session: CommandSession) throws(Failure) -> JSON? {
    let client = try session.open(account: name)
    defer { session.close(client) }
    let kept = try session.call("account.read", [("client", client)])
    let isSignedIn = kept["accessToken"] != nil || kept["profile"] != nil || kept["idToken"] != nil
    let answer = try session.call(
      "logout.begin", [("client", client)], saying: "Revoking the tokens at the provider")
    guard isSignedIn || kept["waiting"] != nil else { return nil }
    let facts = try session.call("diagnostics.export", [("client", client)])["diagnostics"]
    let isWaiting = (facts?["outbox"]?["count"]?.integer ?? 0) > 0
    return .object([
      ("account", .string(name)), ("profile", kept["profile"]), ("waiting", kept["waiting"]),
      ("url", answer["url"]),
      ("providerTold", answer["providerTold"] ?? .string(isWaiting ? "queued" : "told")),
      ("reason", answer["reason"]),
    ])
  }

  private func tell(_ ended: [JSON], _ session: CommandSession) -> CommandStatus {
    if session.isJSON { Output.json(.object([("loggedOut", .array(ended))])) }
    let terminal = Terminal.errors
    if ended.isEmpty, !session.isJSON { terminal.say("No user was signed in.") }
    for one in ended {
      if !session.isJSON {
        for line in Self.lines(one) { terminal.say("\(terminal.signs.good) \(line)", in: .good) }
        if let warning = Self.warning(one) { terminal.say("! \(warning)", in: .warning) }
      }
      endBrowserSession(one["url"]?.string, session)
    }
    return .done
  }

  /// The user who was signed in, and the one who was asked to confirm.
  static func lines(_ ended: JSON) -> [String] {
    var lines: [String] = []
    if ended["profile"] != nil || ended["waiting"] == nil {
      lines.append("signed out \(Shown.person(ended["profile"]))")
    }
    if let waiting = ended["waiting"] {
      lines.append(
        "dropped the sign-in of \(Shown.person(waiting["profile"])), which waited for confirmation")
    }
    return lines
  }

  /// A warning if the provider was not told of the logout; nil if there is none.
  static func warning(_ ended: JSON) -> String? {
    switch ended["providerTold"]?.string {
    case "queued": return "The tokens could not be revoked at the provider yet: the next use tries again."
    case "notPossible":
      let reason = ended["reason"]?.string.map { ": \(Shown.text($0))" } ?? ""
      return
        "The tokens could not be revoked at the provider\(reason). They work until they expire; end the session in your "
        + "account at the provider."
    default: return nil
    }
  }

  /// The address holds the id_token: it is shown to a person who asked for it, and printed nowhere else.
  private func endBrowserSession(_ address: String?, _ session: CommandSession) {
    let terminal = Terminal.errors
    guard browser else {
      if address != nil, terminal.isTerminal, !session.isJSON {
        terminal.say("  The browser may still be signed in; --browser ends its session, too.")
      }
      return
    }
    guard let address else {
      return terminal.say("! The provider has no page that ends the browser's session.", in: .warning)
    }
    if Browser().open(address) != nil { return terminal.say("  The browser ends its session.") }
    guard terminal.isTerminal else {
      return terminal.say("! No browser could be opened, so its session continues.", in: .warning)
    }
    terminal.say("To end the browser's session, open this address:")
    terminal.say(address: address)
  }
}
