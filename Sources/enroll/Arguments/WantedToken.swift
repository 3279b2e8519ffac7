// Which token a command needs that hands it on to another program.

import ArgumentParser

struct WantedToken: ParsableArguments {
  @Option(
    name: .customLong("min-lifetime"),
    help: ArgumentHelp("Seconds for which the token must still be valid at the start.", valueName: "seconds"))
  var minimumLifetime: Int64 = 0

  @Option(help: ArgumentHelp("Seconds to wait for the token.", valueName: "seconds"))
  var timeout: Int64 = 30

  @Option(
    help: ArgumentHelp(
      "The token for this API or MCP server, from the account that signed in with enroll login --resource.",
      valueName: "url"))
  var resource: String?

  @Option(
    help: ArgumentHelp(
      "The scopes that the token should have, separated by spaces, out of those granted at the sign-in.",
      valueName: "scopes"))
  var scope: String?

  func command(at place: ContextOptions) -> TokenCommand {
    TokenCommand(
      minimumLifetime: minimumLifetime, timeout: timeout, resource: resource, scope: scope,
      place: place.options)
  }

  func validate() throws {
    if let complaint = TokenCommand(minimumLifetime: minimumLifetime, timeout: timeout).complaint {
      throw ValidationError(complaint)
    }
  }
}
