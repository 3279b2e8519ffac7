// `enroll switch`: sets the account that a command uses if its command line names no account.

import EnrollArguments
import EnrollRules
import EnrollJSON

struct Switch: EnrollCommand {
  private static let name = Parameter.operand(
    "name", help: "The account. enroll accounts lists them.", completion: .found { Candidates.accounts($0) })

  static let command = Command(
    "switch", "Choose the account that other commands use.",
    discussion: """
      enroll switch work makes the account work, with its profile, the default for commands that name no account, \
      profile, configuration or store. Programs that use EnrollKit ignore this choice. A first sign-in at a provider \
      that you name resets it.
      """, arguments: [name.argument], groups: [ContextOptions.group], action: run)

  let place: PlaceOptions
  private let name: String

  init(_ values: Values) throws(UsageError) {
    var place = try ContextOptions.read(values)
    // An earlier choice does not matter, and its file may be damaged.
    place.choosesAccount = true
    self.place = place
    name = values[Self.name]
    if place.account != nil {
      throw UsageError("Name the account without --account: enroll switch NAME.")
    }
    if place.store != nil || place.config != nil {
      throw UsageError("enroll switch is for accounts of the default store and of profiles.")
    }
  }

  var attempt: [String] { ["switch", name] }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    if let variable = ["ENROLL_STORE", "ENROLL_CONFIG", "ENROLL_PROFILE", "ENROLL_ACCOUNT"].first(where: {
      Environment.process[$0] != nil
    }) {
      throw Failure(
        .usage, "\(variable) is set, and goes before what is chosen here", advice: "Unset \(variable) first.")
    }
    let list = try AccountList(session, isAboutAll: place.profile == nil)
    let names = list.rows.filter { $0.problem == nil && $0.isSignedIn }.map { $0.name }
    guard let row = list.rows.first(where: { $0.name == name }) else {
      let meant =
        EditDistance.nearest(to: name, among: names).map { "; there is an account \(Shown.text($0))" } ?? ""
      throw Failure(
        .signInNeeded, "there is no account \(Shown.text(name))\(meant)", advice: "\(.accounts) lists them.")
    }
    if let problem = row.problem { throw problem }
    guard row.isSignedIn else {
      throw Failure(
        .signInNeeded, "nobody is signed in as the account \(Shown.text(name))",
        advice: "\(.accounts) lists who is.")
    }
    let choice = CurrentChoice(
      profile: row.profile ?? session.place.configurationName, account: row.name)
    try choice.save()
    if session.isJSON {
      Output.json(
        .object([
          ("account", .string(choice.account)), ("configuration", .string(choice.profile)),
          ("profile", row.kept?.profile.map { .object($0) }),
        ]))
    } else {
      Terminal.errors.say(
        "\(Terminal.errors.signs.good) now \(Shown.text(choice.account)) (profile \(choice.profile)): \(Shown.person(row.kept?.profile))",
        in: .good)
    }
    return .done
  }
}
