// The signed-in user, the provider, and the expiry.

import ArgumentParser
import EnrollCore
import EnrollJSON

struct Status: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show who is signed in, at which provider, and until when.",
    discussion:
      "Renews a token that is due first. The exit status is 0 if a user is signed in, else 3.")

  @OptionGroup(title: "Context") var place: ContextOptions

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let client = try session.open()
    let answer = try session.call(
      "registration.state", [("client", client), ("timeout", .integer(15))], saying: "Looking at the account"
    )
    let kept = try session.call("account.read", [("client", client)])
    let store = try session.call("store.diagnose", session.storeParameters)
    let standing = AccountStatus(answer["state"] ?? .null, kept: kept, now: session.now)
    let configuration = try session.configuration()
    if session.isJSON {
      Output.json(
        .object([
          ("account", .string(session.place.account)), ("state", answer["state"]),
          ("profile", kept["profile"]),
          ("expiresAt", kept["expiresAt"]), ("configuration", .string(session.place.configurationPath)),
          ("issuer", configuration.issuer.map { .string($0) }), ("store", .string(session.place.store)),
          ("keyProviders", store["keyProviders"]), ("exitStatus", .integer(Int64(standing.ending.rawValue))),
        ]))
      return standing.ending
    }
    let terminal = Terminal.output
    terminal.say("\(standing.sign(terminal.signs)) \(standing.headline)", in: standing.colour)
    let rows = [
      ("account", Shown.text(session.place.account)),
      ("provider", Shown.text(configuration.issuer ?? "?")),
      ("profile", session.place.configurationName),
      ("token", standing.token),
      ("store", session.place.store),
      ("key", store["keyProviders"]?.array.map { KeyWords.list($0) } ?? "none yet"),
    ]
    for line in Layout.table(rows, width: terminal.width) { Output.line(line) }
    if let advice = standing.advice { terminal.say(advice.text(session.said)) }
    return standing.ending
  }
}

extension JSON {
  /// A configuration's provider, in whatever spelling, or by its name.
  var issuer: String? {
    (try? Configuration(json: self))?.issuer.text
      ?? ["issuer", "discovery_uri", "discoveryUri"].lazy.compactMap { self[$0]?.string }.first
  }
}
