// A provider that is named on the command line, before there is a profile of it.

import ArgumentParser

struct ProviderArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The provider, for the first sign-in, which saves these options as the profile.", valueName: "url"))
  var issuer: String?

  @Option(
    name: .customLong("client-id"),
    help: ArgumentHelp("With --issuer: the client id that the provider registered.", valueName: "id"))
  var clientID: String?

  @Option(
    name: .customLong("redirect-uri"),
    help: ArgumentHelp(
      "With --issuer: the redirect URI. By default \(ProviderSetup.redirectURI).", valueName: "url"))
  var redirectURI: String?

  @Flag(
    name: .customLong("allow-loopback-http"),
    help: "With --issuer: allow http to a provider on this machine.")
  var allowLoopbackHTTP = false

  func validate() throws {
    if issuer == nil, clientID != nil || redirectURI != nil || allowLoopbackHTTP {
      throw ValidationError(
        clientID == nil
          ? "--redirect-uri and --allow-loopback-http need --issuer." : "--client-id needs --issuer.")
    }
  }

  /// - Parameter fallbackClient: where no client is named.
  func setup(scopes: [String], fallbackClient: String? = nil) -> ProviderSetup? {
    guard let issuer, let clientID = clientID ?? fallbackClient else { return nil }
    return ProviderSetup(
      issuer: issuer, clientID: clientID, redirectURI: redirectURI ?? ProviderSetup.redirectURI,
      scopes: scopes,
      allowsLoopbackHTTP: allowLoopbackHTTP)
  }

  /// The same options again.
  var words: [String] {
    var words = ArgumentWords()
    words.add("--issuer", issuer)
    words.add("--client-id", clientID)
    words.add("--redirect-uri", redirectURI)
    words.add("--allow-loopback-http", allowLoopbackHTTP)
    return words.list
  }
}

/// Options as they are typed again.
struct ArgumentWords {
  private(set) var list: [String] = []

  mutating func add(_ option: String, _ value: String?) {
    if let value { list += [option, value] }
  }

  mutating func add(_ flag: String, _ isSet: Bool) {
    if isSet { list.append(flag) }
  }
}
