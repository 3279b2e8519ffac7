// The options of `enroll token`. Front/TokenWords.swift reads those that scripts use; a new one of these belongs in both.

import ArgumentParser

struct Token: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print a valid access token, and nothing else.",
    discussion: """
      Renewed when it is due, once for all who ask at the same time. Never prompts. Without a token nothing is \
      printed, standard error says what to do, and the exit status tells scripts: 3 sign in, 4 provider out of reach, \
      5 refused, 6 store locked, 7 busy.
      """)

  @Option(
    name: .customLong("min-lifetime"),
    help: ArgumentHelp(
      "Seconds for which the token must still be valid; nine tenths of its lifetime at most.",
      valueName: "seconds"))
  var minimumLifetime: Int64 = 0

  @Option(
    help: ArgumentHelp(
      """
      Seconds to wait for the token; 0 takes the one that is there. A renewal that was sent is stored before the command ends, 30 s at most.
      """, valueName: "seconds"))
  var timeout: Int64 = 30

  @Flag(
    help:
      "Renew now, whatever the token's age, for example after an API refused it. Never prints the old token.")
  var renew = false

  // A list, so that a second one is refused.
  @Option(
    name: .customLong("resource"),
    help: ArgumentHelp(
      "The token for this API or MCP server, from the account that was signed in with enroll login --resource.",
      valueName: "url"))
  var resources: [String] = []

  var resource: String? { resources.first }

  @Option(
    help: ArgumentHelp(
      "The scopes that the token is to have, separated by spaces, of those that were granted at the sign-in.",
      valueName: "scopes"))
  var scope: String?

  @Option(
    help: ArgumentHelp(
      "What to print: text, which is the token alone, or kubernetes, which is the ExecCredential that kubectl reads.",
      valueName: "format"))
  var format = TokenFormat.text

  @Flag(
    name: .customLong("id-token"),
    help: "The id_token instead, for what takes that, such as a Kubernetes API server.")
  var isIDToken = false

  @OptionGroup(title: "Context") var place: ContextOptions

  func validate() throws {
    if isIDToken, resource != nil || scope != nil {
      throw ValidationError("--id-token takes no --resource and no --scope: an id_token is for the client.")
    }
    if place.json, format != .text || isIDToken {
      throw ValidationError("--json is the answer for the access token: leave out --format and --id-token.")
    }
    if resources.count > 1 { throw ValidationError("--resource is given twice: a token is for one.") }
    if let complaint = command.complaint { throw ValidationError(complaint) }
  }

  var request: CommandRequest { command.request }

  var command: TokenCommand {
    TokenCommand(
      minimumLifetime: minimumLifetime, timeout: timeout, renew: renew, resource: resource, scope: scope,
      place: place.options)
  }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    guard isIDToken || format != .text else { return try command.perform(session) }
    let token: BearerToken
    if isIDToken {
      let client = try session.open()
      let wanted = IDTokenRequest(minimumLifetime: minimumLifetime, timeout: timeout, renews: renew)
      token = try wanted.perform(client, session)
    } else {
      token = try command.require(session).token
    }
    Output.line(format.words(token.text, expiresAt: token.expiresAt))
    return .done
  }
}

extension TokenFormat: ExpressibleByArgument {}
