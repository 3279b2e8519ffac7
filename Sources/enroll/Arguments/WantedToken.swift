// The options for the token that a command passes to another program.

import EnrollArguments

struct WantedToken {
  private static let lifetime = Parameter.option(
    "min-lifetime", value: "seconds", help: "Seconds for which the token must still be valid at the start.",
    in: TokenCommand.lifetimes, default: 0)
  private static let wait = Parameter.option(
    "timeout", value: "seconds", help: "Seconds to wait for the token.", in: TokenCommand.timeouts,
    default: TokenCommand.usualTimeout)
  static let resource = Parameter.option(
    "resource", value: "url",
    help:
      "The token for this API or MCP server, from the account that signed in with enroll login --resource.")
  static let scope = Parameter.option(
    "scope", value: "scopes",
    help: "The scopes that the token should have, separated by spaces, out of those granted at the sign-in.")

  static let login = Parameter.flag(
    "login",
    help:
      "If nobody is signed in, sign in with the browser first. Commands that ask at the same time open one browser."
  )

  static let arguments = [
    lifetime.argument, wait.argument, resource.argument, scope.argument, login.argument,
  ]

  private let minimumLifetime: Int64
  private let timeout: Int64
  private let isTimeoutNamed: Bool
  let resource: String?
  private let scope: String?
  private let signsIn: Bool

  init(_ values: Values) {
    minimumLifetime = values[Self.lifetime]
    timeout = values[Self.wait]
    isTimeoutNamed = values.has(Self.wait)
    resource = values[Self.resource]
    scope = values[Self.scope]
    signsIn = values[Self.login]
  }

  func command(at place: PlaceOptions) -> TokenCommand {
    TokenCommand(
      minimumLifetime: minimumLifetime, timeout: timeout, isTimeoutNamed: isTimeoutNamed,
      resource: resource, scope: scope, signsIn: signsIn, place: place)
  }
}
