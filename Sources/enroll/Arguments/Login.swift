// Signing in.

import ArgumentParser

struct Login: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "Sign in, in the browser or by another device.",
    discussion: """
      The first time, name the provider: enroll login --issuer https://id.example --client-id my-app. That is saved \
      as the profile, once the provider has answered. Whoever is signed in stays so, unless --again says otherwise.

      On a machine without a browser: --device, or --no-browser and the address that the other browser ends at.
      """)

  @Flag(help: "Show a code to be typed on another device, instead of opening a browser here (RFC 8628).")
  var device = false

  @OptionGroup var way: SignInArguments
  @OptionGroup(title: "Context") var place: ContextOptions

  func validate() throws {
    if device, way.noBrowser { throw ValidationError("--device opens no browser anyway.") }
    if device, way.loginHint != nil || way.prompt != nil || way.connection != nil {
      throw ValidationError("--login-hint, --prompt and --connection are for a browser, not for --device.")
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
    abstract: "Make an account at the provider, in the browser, and sign in with it.",
    discussion: "As login; the provider is asked for the page on which accounts are made.")

  @OptionGroup var way: SignInArguments
  @OptionGroup(title: "Context") var place: ContextOptions

  var provider: ProviderArguments? { way.provider }
  var attempt: [String] { ["register"] + way.words }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    try SignIn(way, .register, session).run()
  }
}
