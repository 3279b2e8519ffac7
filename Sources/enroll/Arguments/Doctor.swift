// `enroll doctor`: checks everything that a sign-in and a renewal need, and shows one finding for each check.

import EnrollSteps
import EnrollArguments
import EnrollJSON

struct Doctor: EnrollCommand {
  static let command = Command(
    "doctor", "Check the configuration, store, keys, provider, clock and browser for problems.",
    discussion: """
      Changes nothing: it examines the store without opening it for use, and checks the provider by beginning a sign-in \
      in memory, which it abandons. The exit status is 1 if it finds a problem.

      Before you have a profile, enroll doctor --issuer URL, or --provider NAME, checks that provider and says what will \
      not work there. Without them, doctor checks the provider of the last failed sign-in.
      """, arguments: ProviderArguments.arguments, groups: [ContextOptions.group], action: run)

  let place: PlaceOptions
  private let named: ProviderArguments

  init(_ values: Values) throws(UsageError) {
    place = try ContextOptions.read(values)
    named = try ProviderArguments(values)
  }

  var provider: ProviderArguments? { named }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let examination = try Examination(
      session, named: named.setup(scopes: [], fallbackClient: Examination.anyClient), options: named)
    let isWell = !examination.findings.contains { $0.verdict == .bad }
    if session.isJSON {
      Output.json(
        .object([
          ("ok", .bool(isWell)), ("checks", .array(examination.findings.map { $0.json(session.said) })),
          ("store", examination.store), ("provider", examination.facts?.providerReport),
          ("clock", examination.facts?.clockReport),
        ]))
    } else {
      let terminal = Terminal.output
      for finding in examination.findings {
        terminal.say(
          "\(finding.verdict.sign(terminal.signs)) \(finding.check): \(finding.text)",
          in: finding.verdict.colour)
        if let advice = finding.advice { terminal.say("  " + advice.text(session.said)) }
      }
    }
    return isWell ? .done : .failed
  }
}
