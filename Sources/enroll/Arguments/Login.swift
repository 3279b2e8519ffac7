// Signing in.

import ArgumentParser

struct Login: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "Sign in with the browser or on another device.",
    discussion: """
      The first time, name the provider: enroll login --issuer https://id.example --client-id my-app. enroll saves it as \
      the profile once the provider has answered. For a provider that EnrollKit knows, use its name: enroll login \
      --provider okta --set domain=dev-1.okta.com --client-id my-app. A signed-in user stays signed in, unless you pass \
      --again.

      On a machine without a browser use --device, or --no-browser and the URL at which the other browser ends.
      """)

  @Flag(help: "Show a code to type on another device, instead of opening a browser here (RFC 8628).")
  var device = false

  @OptionGroup var way: SignInArguments
  @OptionGroup(title: "Context") var place: ContextOptions

  func validate() throws {
    if device, way.noBrowser { throw ValidationError("--device opens no browser: leave --no-browser out.") }
    if !device, way.provider.name == "github-device" {
      throw ValidationError(
        "The provider github-device signs in with --device; in the browser, github needs a secret.")
    }
    if device, way.loginHint != nil || way.prompt != nil || way.connection != nil {
      throw ValidationError("--device takes no --login-hint, --prompt or --connection.")
    }
  }

  var provider: ProviderArguments? { way.provider }
  var attempt: [String] { ["login"] + (device ? ["--device"] : []) + way.words }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    try SignIn(way, device ? .device : .signIn, session).run()
  }
}

struct Register: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "Create an account at the provider in the browser, and sign in with it.",
    discussion: "Like login, but asks the provider to show its page for new accounts.")

  @OptionGroup var way: SignInArguments
  @OptionGroup(title: "Context") var place: ContextOptions

  var provider: ProviderArguments? { way.provider }
  var attempt: [String] { ["register"] + way.words }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    try SignIn(way, .register, session).run()
  }
}
