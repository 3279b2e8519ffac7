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
      "Seconds to wait for the token; 0 uses the stored one. While the provider cannot be reached, the time that you name is used. A renewal that takes longer goes on, and the next command gets its token. With --format aws, the request to AWS counts, too, but 0 does not limit it.",
    in: TokenCommand.timeouts, default: TokenCommand.usualTimeout)
  private static let renew = Parameter.flag(
    "renew",
    help:
      "Renew the token now, whatever its age, for example after an API rejected it. Never prints the old token."
  )
  private static let renewAgain = Parameter.option(
    "renew-if-asked-again", value: "seconds",
    help:
      "Renew the token if a command with this option printed it in the last SECONDS. For programs that run the command again after a 401, such as kubectl, rclone and MCP clients.",
    in: 1...86_400)
  private static let output = Parameter.choice(
    "format", value: "format",
    help: "What to print: \(TokenFormat.list).",
    default: TokenFormat.text)
  private static let idToken = Parameter.flag(
    "id-token", help: "Print the id_token instead, for example for a Kubernetes API server.")

  private static let role = Parameter.option(
    "role", value: "arn", help: "With --format aws: the ARN of the role.")
  private static let sts = Parameter.option(
    "sts", value: "url",
    help: "With --format aws: the URL of the Security Token Service, by default AWS's own in AWS_REGION.")

  static let command = Command(
    "token", "Print a valid access token, and nothing else.",
    discussion: """
      Renews the token when it is due, once for all concurrent calls. Never prompts without --login. Without a token it prints \
      nothing on standard output, standard error says what to do, and the exit status says why: 3 sign in, \
      4 provider unreachable, 5 refused, 6 store locked, 7 busy.
      """,
    arguments: [
      lifetime.argument, wait.argument, renew.argument, renewAgain.argument, WantedToken.resource.argument,
      WantedToken.scope.argument, WantedToken.login.argument, output.argument, idToken.argument,
      role.argument, sts.argument,
    ], groups: [ContextOptions.group], action: run)

  /// The request for an access token.
  let token: TokenCommand
  private let format: TokenFormat
  private let isIDToken: Bool
  private let aws: AWSCredentials?

  init(_ values: Values) throws(UsageError) {
    token = TokenCommand(
      minimumLifetime: values[Self.lifetime], timeout: values[Self.wait],
      isTimeoutNamed: values.has(Self.wait), renew: values[Self.renew],
      renewsIfAskedWithin: values[Self.renewAgain],
      resource: values[WantedToken.resource], scope: values[WantedToken.scope],
      signsIn: values[WantedToken.login], place: try ContextOptions.read(values))
    format = values[Self.output]
    isIDToken = values[Self.idToken] || format.isForIDToken
    guard (format == .aws) == values.has(Self.role), format == .aws || !values.has(Self.sts) else {
      throw UsageError("--format aws needs --role, and only it takes --role and --sts.")
    }
    if let role = values[Self.role] {
      aws = try AWSCredentials(role: role, service: values[Self.sts])
    } else {
      aws = nil
    }
    if isIDToken, token.resource != nil || token.scope != nil {
      let cause = format.isForIDToken ? "--format \(format.rawValue)" : "--id-token"
      throw UsageError("\(cause) takes no --resource and no --scope: an id_token is for the client.")
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
    do throws(Failure) {
      Output.line(try printed(session))
    } catch {
      if let words = format.words(for: error) { Output.line(words) }
      throw error
    }
    return .done
  }

  private func printed(_ session: CommandSession) throws(Failure) -> String {
    guard isIDToken else { return format.words(try token.require(session).token, isIDToken: false) }
    let wanted = IDTokenRequest(
      minimumLifetime: token.minimumLifetime, timeout: token.timeout,
      isTimeoutNamed: token.isTimeoutNamed, renews: token.renew,
      renewsIfAskedWithin: token.renewsIfAskedWithin, isQuiet: format.readsErrors)
    return try LoginOnDemand.around(session, request, isWanted: token.signsIn) { () throws(Failure) in
      let wait = TokenWait(seconds: token.timeout, isNamed: token.isTimeoutNamed, session)
      let found = try wanted.perform(try session.open(), session)
      guard let aws else { return format.words(found, isIDToken: true) }
      // The stored id_token is available without a wait, but the answer from AWS always takes time.
      let seconds = token.timeout == 0 ? TokenCommand.usualTimeout : max(1, wait.secondsLeft(session))
      return try aws.document(found.text, within: seconds, session).text
    }
  }
}
