// The options of `enroll token`.

import EnrollArguments

struct Token: EnrollCommand {
  private static let lifetime = Parameter.option(
    "min-lifetime", value: "seconds",
    help: "Seconds for which the token must still be valid; at most nine tenths of its lifetime.",
    in: TokenCommand.lifetimes, default: 0)
  private static let wait = Parameter.option(
    "timeout", value: "seconds",
    help:
      "Seconds to wait for the token; 0 uses the stored one. While the provider cannot be reached, the time that you name is used. A renewal that takes longer goes on, and the next command gets its token.",
    in: TokenCommand.timeouts, default: TokenCommand.usualTimeout)
  private static let renew = Parameter.flag(
    "renew",
    help:
      "Renew the token now, whatever its age, for example after an API rejected it. Never prints the old token."
  )
  private static let output = Parameter.choice(
    "format", value: "format",
    help: "What to print: text (only the token) or kubernetes (the ExecCredential that kubectl reads).",
    default: TokenFormat.text)
  private static let idToken = Parameter.flag(
    "id-token", help: "Print the id_token instead, for example for a Kubernetes API server.")

  static let command = Command(
    "token", "Print a valid access token, and nothing else.",
    discussion: """
      Renews the token when it is due, once for all concurrent calls. Never prompts. Without a token it prints \
      nothing on standard output, standard error says what to do, and the exit status says why: 3 sign in, \
      4 provider unreachable, 5 refused, 6 store locked, 7 busy.
      """,
    arguments: [
      lifetime.argument, wait.argument, renew.argument, WantedToken.resource.argument,
      WantedToken.scope.argument, output.argument, idToken.argument,
    ], groups: [ContextOptions.group], action: run)

  /// The request for an access token.
  let token: TokenCommand
  private let format: TokenFormat
  private let isIDToken: Bool

  init(_ values: Values) throws(UsageError) {
    token = TokenCommand(
      minimumLifetime: values[Self.lifetime], timeout: values[Self.wait],
      isTimeoutNamed: values.has(Self.wait), renew: values[Self.renew],
      resource: values[WantedToken.resource], scope: values[WantedToken.scope],
      place: try ContextOptions.read(values))
    format = values[Self.output]
    isIDToken = values[Self.idToken]
    if isIDToken, token.resource != nil || token.scope != nil {
      throw UsageError("--id-token takes no --resource and no --scope: an id_token is for the client.")
    }
    if token.place.json, format != .text || isIDToken {
      throw UsageError("--json is the answer for the access token: leave out --format and --id-token.")
    }
    if token.renew, token.minimumLifetime > 0 {
      throw UsageError("--renew gets a new token anyway: leave --min-lifetime out.")
    }
  }

  var place: PlaceOptions { token.place }
  var resource: String? { token.resource }
  var request: CommandRequest { token.request }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    guard isIDToken || format != .text else { return try token.perform(session) }
    let printed: BearerToken
    if isIDToken {
      let client = try session.open()
      let wanted = IDTokenRequest(
        minimumLifetime: token.minimumLifetime, timeout: token.timeout,
        isTimeoutNamed: token.isTimeoutNamed, renews: token.renew)
      printed = try wanted.perform(client, session)
    } else {
      printed = try token.require(session).token
    }
    Output.line(format.words(printed.text, expiresAt: printed.expiresAt))
    return .done
  }
}
