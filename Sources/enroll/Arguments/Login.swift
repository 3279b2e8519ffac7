// The commands that sign in.

import EnrollArguments

struct Login: EnrollCommand {
  private static let otherDevice = Parameter.flag(
    "device", help: "Show a code to type on another device, instead of opening a browser here (RFC 8628).")

  static let command = Command(
    "login", "Sign in with the browser or on another device.",
    discussion: """
      The first time, name the provider: enroll login --issuer https://id.example --client-id my-app. enroll saves it as \
      the profile once the provider has answered. For a provider that EnrollKit knows, use its name: enroll login \
      --provider okta --set domain=dev-1.okta.com --client-id my-app. A signed-in user stays signed in, unless you pass \
      --again.

      On a machine without a browser use --device, or --no-browser and the URL at which the other browser ends.
      """, arguments: [otherDevice.argument] + SignInArguments.arguments, groups: [ContextOptions.group],
    action: run)

  let place: PlaceOptions
  private let way: SignInArguments
  private let device: Bool

  init(_ values: Values) throws(UsageError) {
    place = try ContextOptions.read(values)
    way = try SignInArguments(values)
    device = values[Self.otherDevice]
    if device, way.noBrowser { throw UsageError("--device opens no browser: leave --no-browser out.") }
    if !device, way.provider.name == "github-device" {
      throw UsageError(
        "The provider github-device signs in with --device; in the browser, github needs a secret.")
    }
    if device, way.loginHint != nil || way.prompt != nil || way.connection != nil {
      throw UsageError("--device takes no --login-hint, --prompt or --connection.")
    }
  }

  var provider: ProviderArguments? { way.provider }
  var attempt: [String] { ["login"] + (device ? ["--device"] : []) + way.words }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    var signIn = try SignIn(way, device ? .device : .signIn, session)
    return try signIn.run()
  }
}

struct Register: EnrollCommand {
  static let command = Command(
    "register", "Create an account at the provider in the browser, and sign in with it.",
    discussion: "Like login, but asks the provider to show its page for new accounts.",
    arguments: SignInArguments.arguments, groups: [ContextOptions.group], action: run)

  let place: PlaceOptions
  private let way: SignInArguments

  init(_ values: Values) throws(UsageError) {
    place = try ContextOptions.read(values)
    way = try SignInArguments(values)
  }

  var provider: ProviderArguments? { way.provider }
  var attempt: [String] { ["register"] + way.words }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    var signIn = try SignIn(way, .register, session)
    return try signIn.run()
  }
}
