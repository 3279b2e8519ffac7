// Who is signed in, where, and for how long.

import ArgumentParser
import EnrollJSON

struct Status: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show who is signed in, where, and until when.",
    discussion:
      "A token that is due is renewed first. The exit status is 0 while somebody is signed in, else 3.")

  @OptionGroup(title: "Place") var place: PlaceOptions

  func perform(_ door: Door) throws(Failure) -> Ending {
    let client = try door.open()
    let answer = try door.call(
      "registration.state", [("client", client), ("deadline", .integer(15))], saying: "Looking at the account"
    )
    let kept = try door.call("account.read", [("client", client)])
    let store = try door.call("store.diagnose", door.storeParameters)
    let standing = Standing(answer["state"] ?? .null, kept: kept, now: door.now)
    let configuration = try door.configuration()
    if door.isJSON {
      Output.json(
        .object([
          ("account", .string(door.place.account)), ("state", answer["state"]), ("profile", kept["profile"]),
          ("expiresAt", kept["expiresAt"]), ("configuration", .string(door.place.configurationPath)),
          ("issuer", configuration.issuer.map { .string($0) }), ("store", .string(door.place.store)),
          ("keyProviders", store["keyProviders"]), ("exitStatus", .integer(Int64(standing.ending.rawValue))),
        ]))
      return standing.ending
    }
    let terminal = Terminal.output
    terminal.say("\(standing.sign(terminal.signs)) \(standing.headline)", in: standing.colour)
    let rows = [
      ("account", Shown.text(door.place.account)),
      ("provider", Shown.text(configuration.issuer ?? "?")),
      ("profile", door.place.configurationName),
      ("token", standing.token),
      ("store", door.place.store),
      ("key", store["keyProviders"]?.array.map { KeyWords.list($0) } ?? "none yet"),
    ]
    for line in Layout.table(rows, width: terminal.width) { Output.line(line) }
    if let advice = standing.advice { terminal.say(advice.text(door.said)) }
    return standing.ending
  }
}

extension JSON {
  /// A configuration's provider, in whatever spelling.
  var issuer: String? {
    ["issuer", "discovery_uri", "discoveryUri"].lazy.compactMap { self[$0]?.string }.first
  }
}
