// What `login` and `register` have in common: by which way, at which provider, and how much is asked.

import ArgumentParser

struct SignInArguments: ParsableArguments {
  @Flag(name: .customLong("no-browser"), help: "Open no browser; show the address alone.")
  var noBrowser = false

  @Flag(name: .shortAndLong, help: "Take the profile for confirmed: for scripts.")
  var yes = false

  @Flag(help: "Sign in anew where somebody is signed in already.")
  var again = false

  @Option(
    name: .customLong("login-hint"),
    help: ArgumentHelp("Who is likely to sign in.", valueName: "address"))
  var loginHint: String?

  @Option(
    help: ArgumentHelp(
      "What the provider asks for: none, login, consent, select_account or create.", valueName: "word"))
  var prompt: String?

  @Option(help: ArgumentHelp("The provider's name for the connection to use.", valueName: "name"))
  var connection: String?

  @Option(
    name: .customLong("scope"),
    help: ArgumentHelp("Ask for this, instead of the configured scopes. Repeatable.", valueName: "scope"))
  var scopes: [String] = []

  @Option(
    name: .customLong("long-wait"),
    help: ArgumentHelp(
      "Seconds after which a browser that does not come back is asked about.", valueName: "seconds",
      visibility: .private))
  var longWaitSeconds = LongWait.usualSeconds

  @OptionGroup var provider: ProviderArguments

  func validate() throws {
    if provider.issuer != nil, provider.clientID == nil {
      throw ValidationError("--issuer and --client-id go together.")
    }
  }

  var setup: ProviderSetup? { provider.setup(scopes: scopes) }

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
