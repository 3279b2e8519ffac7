// Signing in.

import ArgumentParser

struct Login: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "Sign in with the browser or on another device.",
    discussion: """
      The first time, name the provider: enroll login --issuer https://id.example --client-id my-app. That is saved \
      as the profile, once the provider has answered. A provider that EnrollKit knows has a name: enroll login --provider \
      okta --set domain=dev-1.okta.com --client-id my-app. A user who is signed in stays signed in, unless you pass --again.

      On a machine without a browser: --device, or --no-browser and the address that the other browser ends at.
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
    discussion: "Like login, but the provider is asked to show its page for new accounts.")

  @OptionGroup var way: SignInArguments
  @OptionGroup(title: "Context") var place: ContextOptions

  var provider: ProviderArguments? { way.provider }
  var attempt: [String] { ["register"] + way.words }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    try SignIn(way, .register, session).run()
  }
}
