// The options that `login` and `register` share: how to sign in, at which provider, and how many questions to ask.

import CPosix
import EnrollArguments
import EnrollJSON

struct SignInArguments {
  private static let browserless = Parameter.flag("no-browser", help: "Open no browser; only show the URL.")
  private static let confirmed = Parameter.flag(
    "yes", letter: "y",
    help: "For scripts: confirm the profile, and the provider of --resource, without asking.")
  private static let anew = Parameter.flag("again", help: "Sign in again even if a user is signed in.")
  private static let address = Parameter.option(
    "login-hint", value: "address", help: "The user name or e-mail address to suggest at sign-in.")
  private static let promptWord = Parameter.option(
    "prompt", value: "word",
    help: "The OpenID Connect prompt: none, login, consent, select_account or create.",
    completion: .words(["none", "login", "consent", "select_account", "create"]))
  private static let connectionName = Parameter.option(
    "connection", value: "name", help: "The provider's name for the connection to use.")
  private static let scope = Parameter.repeated(
    "scope", value: "scope",
    help:
      "A scope to request, instead of the configured ones; with --resource, besides those of the sign-in before. Repeatable."
  )
  /// An option for the time before the hint about a sign-in that takes long. Tests shorten this time.
  private static let redirectHint = Parameter.option(
    "long-wait", value: "seconds", help: "Seconds without a redirect before a hint is shown.",
    in: 0...86_400, default: RedirectHint.usualSeconds, isHidden: true)
  /// A flag for the sign-in that a bridge or `--login` starts: this sign-in has no terminal, so it asks in the browser.
  private static let browserQuestion = Parameter.flag(
    "ask-in-browser", help: "Ask in the browser whether to trust a provider of --resource.", isHidden: true)
  /// An option for the sign-in that a bridge or `--login` starts.
  private static let openAgainOption = Parameter.option(
    "open-again", value: "path", help: "Open the browser's tab again when this file appears.", isHidden: true)
  /// A flag for the sign-in that a bridge starts.
  private static let dropWaiting = Parameter.flag(
    "drop-waiting", help: "Drop an earlier sign-in that waits for an answer.", isHidden: true)
  private static let anotherClient = Parameter.flag(
    "register-again",
    help: "With --resource: register again, because the provider has forgotten the client.")

  static let arguments =
    [
      browserless.argument, confirmed.argument, anew.argument, address.argument, promptWord.argument,
      connectionName.argument, scope.argument, redirectHint.argument, anotherClient.argument,
      browserQuestion.argument, openAgainOption.argument, dropWaiting.argument,
    ] + ProviderArguments.arguments

  let noBrowser: Bool
  let yes: Bool
  let again: Bool
  let loginHint: String?
  let prompt: String?
  let connection: String?
  let scopes: [String]
  let redirectHintSeconds: Int64
  let registerAgain: Bool
  let asksInBrowser: Bool
  /// Whether an earlier sign-in that waits for the user's answer is dropped: a bridge's user cannot give this answer.
  let dropsWaiting: Bool
  /// The path of the file that asks for the tab to be opened again.
  private let openAgainFile: String?
  let provider: ProviderArguments

  init(_ values: Values) throws(UsageError) {
    noBrowser = values[Self.browserless]
    yes = values[Self.confirmed]
    again = values[Self.anew]
    loginHint = values[Self.address]
    prompt = values[Self.promptWord]
    connection = values[Self.connectionName]
    scopes = values[Self.scope]
    redirectHintSeconds = values[Self.redirectHint]
    registerAgain = values[Self.anotherClient]
    asksInBrowser = values[Self.browserQuestion]
    openAgainFile = values[Self.openAgainOption]
    dropsWaiting = values[Self.dropWaiting]
    provider = try ProviderArguments(values)
    if registerAgain, provider.resource == nil { throw UsageError("--register-again needs --resource.") }
    if registerAgain, provider.clientID != nil {
      throw UsageError(
        "--register-again and --client-id exclude each other: a client that is named is not registered.")
    }
    if provider.issuer != nil || provider.name != nil, provider.clientID == nil, provider.resource == nil {
      throw UsageError("--issuer and --provider need --client-id.")
    }
  }

  /// Whether a bridge or `--login` has started this command, so that nobody reads its standard error.
  var isForBridge: Bool { openAgainFile != nil }

  /// Opens the address again if a bridge has asked for that.
  func openAgain(_ address: String, at now: Int64) {
    guard let openAgainFile, unlink(openAgainFile) == 0, Browser().open(address) != nil else { return }
    tellOpened(at: now)
  }

  /// Prints when the tab was opened, for the bridges that read this output.
  func tellOpened(at now: Int64) { Output.json(.object([("opened", .integer(now))])) }

  /// The prompt that is saved in the profile, for every sign-in that names no prompt. Other prompts apply to
  /// one sign-in only.
  var lastingPrompt: String? {
    prompt.flatMap { LastingPrompt(rawValue: $0) }?.rawValue
  }

  /// - Throws: as ``ProviderArguments/setup(scopes:fallbackClient:)``.
  func setup() throws(Failure) -> ProviderSetup? {
    var setup = try provider.setup(scopes: scopes)
    setup?.prompt = lastingPrompt
    return setup
  }

  /// These options as arguments for another command line.
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

/// The prompts that a profile keeps (OpenID Connect Core §3.1.2.1).
enum LastingPrompt: String, CaseIterable {
  case login, consent
  case selectAccount = "select_account"
}
