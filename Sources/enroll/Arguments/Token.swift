// The options of `enroll token`. Front/TokenWords.swift reads those that scripts use; a new one of these belongs in both.

import ArgumentParser

struct Token: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print a valid access token, and nothing else.",
    discussion: """
      Renews the token when it is due, once for all concurrent calls. Never prompts. Without a token it prints \
      nothing on standard output, standard error says what to do, and the exit status says why: 3 sign in, \
      4 provider unreachable, 5 refused, 6 store locked, 7 busy.
      """)

  @Option(
    name: .customLong("min-lifetime"),
    help: ArgumentHelp(
      "Seconds for which the token must still be valid; at most nine tenths of its lifetime.",
      valueName: "seconds"))
  var minimumLifetime: Int64 = 0

  @Option(
    help: ArgumentHelp(
      """
      Seconds to wait for the token; 0 uses the stored one. A renewal that was sent is stored before the command ends, within 30 s.
      """, valueName: "seconds"))
  var timeout: Int64 = 30

  @Flag(
    help:
      "Renew the token now, whatever its age, for example after an API rejected it. Never prints the old token."
  )
  var renew = false

  // A list, so that a second one is refused.
  @Option(
    name: .customLong("resource"),
    help: ArgumentHelp(
      "The token for this API or MCP server, from the account that signed in with enroll login --resource.",
      valueName: "url"))
  var resources: [String] = []

  var resource: String? { resources.first }

  @Option(
    help: ArgumentHelp(
      "The scopes that the token should have, separated by spaces, out of those granted at the sign-in.",
      valueName: "scopes"))
  var scope: String?

  @Option(
    help: ArgumentHelp(
      "What to print: text (only the token) or kubernetes (the ExecCredential that kubectl reads).",
      valueName: "format"))
  var format = TokenFormat.text

  @Flag(
    name: .customLong("id-token"),
    help: "Print the id_token instead, for example for a Kubernetes API server.")
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
