// The token for scripts: one line on standard output, or none.

import ArgumentParser
import EnrollJSON

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

  @OptionGroup(title: "Context") var place: ContextOptions

  var mayAsk: Bool { false }

  func validate() throws {
    guard (0...31_536_000).contains(minimumLifetime) else {
      throw ValidationError("--min-lifetime must be 0 to 31536000 seconds.")
    }
    guard (0...86_400).contains(timeout) else {
      throw ValidationError("--timeout must be 0 to 86400 seconds.")
    }
    if resources.count > 1 { throw ValidationError("--resource is given twice: a token is for one.") }
    if renew, minimumLifetime > 0 {
      throw ValidationError("--renew gets a new token anyway: leave --min-lifetime out.")
    }
  }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    try requireSignIn(session)
    let client = try session.open()
    let common: [(String, JSON?)] = [
      ("client", client), ("scope", scope.map { .string($0) }), ("timeout", .integer(timeout)),
    ]
    let answer =
      renew
      ? try session.call("token.refresh", common)
      : try session.call("token.access", common + [("minimumLifetime", .integer(minimumLifetime))])
    let outcome = TokenReport(answer, mustBeNew: renew)
    let words = try outcome.words(session, client)?.guessing(context)
    if session.isJSON {
      Output.json(outcome.json(words, session.said))
    } else if let token = outcome.token {
      Output.line(token)
    }
    if let words { Terminal.errors.tell(words, session.said) }
    return outcome.ending
  }

  /// A token for anything else than the named resource is of no use.
  private func requireSignIn(_ session: CommandSession) throws(Failure) {
    guard let resource else { return }
    let configuration = try session.place.hasConfiguration() ? session.configuration() : nil
    let present = configuration?["resource"]?.string
    if present == resource { return }
    if configuration != nil, place.profile != nil || place.config != nil {
      throw Failure(
        .usage,
        "\(session.place.configurationName) is for \(present.map { Shown.text($0) } ?? "no resource"), not \(Shown.text(resource))",
        advice: "Leave out --profile and --config: enroll finds the resource's own profile.")
    }
    throw Failure(
      .signInNeeded, "nobody has signed in at the resource \(Shown.text(resource))",
      advice: "Run \(.loginAtResource) once.")
  }
}
