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
    help: ArgumentHelp(
      "The provider, for a first use: what is said here is saved as the profile.", valueName: "url"))
  var issuer: String?

  @Option(
    name: .customLong("client-id"),
    help: ArgumentHelp("The client that the provider registered, with --issuer.", valueName: "id"))
  var clientID: String?

  @Option(
    name: .customLong("redirect-uri"),
    help: ArgumentHelp(
      "Where the browser comes back to, with --issuer: \(Provision.redirectURI).", valueName: "url"))
  var redirectURI: String?

  @Flag(
    name: .customLong("allow-loopback-http"),
    help: "With --issuer: the provider is on this machine, and is spoken to by http.")
  var allowLoopbackHTTP = false

  func validate() throws {
    if (issuer == nil) != (clientID == nil) {
      throw ValidationError("--issuer and --client-id go together.")
    }
    if issuer == nil, redirectURI != nil || allowLoopbackHTTP {
      throw ValidationError("--redirect-uri and --allow-loopback-http go with --issuer.")
    }
  }

  var provision: Provision? {
    guard let issuer, let clientID else { return nil }
    return Provision(
      issuer: issuer, clientID: clientID, redirectURI: redirectURI ?? Provision.redirectURI, scopes: scopes,
      allowsLoopbackHTTP: allowLoopbackHTTP)
  }
}
