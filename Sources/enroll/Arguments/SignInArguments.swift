// What `login` and `register` have in common: by which way, at which provider, and how much is asked.

import ArgumentParser

struct SignInArguments: ParsableArguments {
  @Flag(name: .customLong("no-browser"), help: "Open no browser; only show the URL.")
  var noBrowser = false

  @Flag(
    name: .shortAndLong,
    help: "For scripts: confirm the profile, and the provider of --resource, without asking.")
  var yes = false

  @Flag(help: "Sign in again even if a user is signed in.")
  var again = false

  @Option(
    name: .customLong("login-hint"),
    help: ArgumentHelp("The user name or e-mail address to suggest at sign-in.", valueName: "address"))
  var loginHint: String?

  @Option(
    help: ArgumentHelp(
      "The OpenID Connect prompt: none, login, consent, select_account or create.", valueName: "word"))
  var prompt: String?

  @Option(help: ArgumentHelp("The provider's name for the connection to use.", valueName: "name"))
  var connection: String?

  @Option(
    name: .customLong("scope"),
    help: ArgumentHelp("A scope to request, instead of the configured ones. Repeatable.", valueName: "scope"))
  var scopes: [String] = []

  @Option(
    name: .customLong("long-wait"),
    help: ArgumentHelp(
      "Seconds without a redirect before a hint is shown.", valueName: "seconds",
      visibility: .private))
  var longWaitSeconds = LongWait.usualSeconds

  @Flag(
    name: .customLong("register-again"),
    help: "With --resource: register again, because the provider has forgotten the client.")
  var registerAgain = false

  @OptionGroup var provider: ProviderArguments

  func validate() throws {
    if registerAgain, provider.resource == nil {
      throw ValidationError("--register-again needs --resource.")
    }
    if registerAgain, provider.clientID != nil {
      throw ValidationError(
        "--register-again and --client-id exclude each other: a client that is named is not registered.")
    }
    if provider.issuer != nil || provider.name != nil, provider.clientID == nil, provider.resource == nil {
      throw ValidationError("--issuer and --provider need --client-id.")
    }
  }

  /// - Throws: as ``ProviderArguments/setup(scopes:fallbackClient:)``.
  func setup() throws(Failure) -> ProviderSetup? { try provider.setup(scopes: scopes) }

  /// The same options again.
  var words: [String] {
    var words = ArgumentWords()
    words.add("--no-browser", noBrowser)
    words.add("--yes", yes)
    words.add("--again", again)
    words.add("--login-hint", loginHint)
    words.add("--prompt", prompt)
    words.add("--connection", connection)
    for scope in scopes { words.add("--scope", scope) }
    return words.list
  }
}
