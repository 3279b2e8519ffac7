// A provider that is named on the command line, before there is a profile of it.

import ArgumentParser
import EnrollCore
import EnrollPosix

struct ProviderArguments: ParsableArguments {
  // A list, so that a second one is refused.
  @Option(
    name: .customLong("resource"),
    help: ArgumentHelp(
      "An API or MCP server: the first sign-in finds its provider, asks you, and registers (RFC 9728).",
      valueName: "url"))
  var resources: [String] = []

  var resource: String? { resources.first }

  @Option(
    help: ArgumentHelp(
      "The provider's issuer URL, for the first sign-in, which saves these options as the profile.",
      valueName: "url"))
  var issuer: String?

  @Option(
    name: .customLong("provider"),
    help: ArgumentHelp(
      "A provider that EnrollKit knows, such as google, instead of --issuer.", valueName: "name"))
  var name: String?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "With --provider: a value that the provider needs, such as domain=dev-1.okta.com. Repeatable.",
      valueName: "part=value"))
  var parts: [String] = []

  @Option(
    name: .customLong("client-id"),
    help: ArgumentHelp(
      "With --issuer or --provider: the client id that the provider assigned.", valueName: "id"))
  var clientID: String?

  @Option(
    name: .customLong("client-secret-file"),
    help: ArgumentHelp(
      "With --client-id: the file with the client's secret, if the provider gave this client one; the profile keeps the secret.",
      valueName: "path"))
  var clientSecretFile: String?

  @Option(
    name: .customLong("redirect-uri"),
    help: ArgumentHelp(
      "With --issuer or --provider: the redirect URI. By default the provider's, or \(ProviderSetup.redirectURI).",
      valueName: "url"))
  var redirectURI: String?

  @Flag(
    name: .customLong("allow-loopback-http"),
    help: "With --issuer: allow http to a provider on this machine.")
  var allowLoopbackHTTP = false

  func validate() throws {
    if clientID == nil, clientSecretFile != nil {
      throw ValidationError("--client-secret-file needs --client-id.")
    }
    if resource == "" { throw ValidationError("--resource has no value.") }
    if resources.count > 1 { throw ValidationError("--resource is given twice: each sign-in is for one.") }
    if resource != nil, name != nil {
      throw ValidationError("--resource and --provider exclude each other: the resource names its provider.")
    }
    if issuer == nil, name == nil, resource == nil,
      clientID != nil || redirectURI != nil || allowLoopbackHTTP
    {
      throw ValidationError(
        clientID == nil
          ? "--redirect-uri and --allow-loopback-http need --issuer or --resource."
          : "--client-id needs --issuer, --provider or --resource.")
    }
    if name == nil, !parts.isEmpty { throw ValidationError("--set needs --provider.") }
    if name != nil, allowLoopbackHTTP {
      throw ValidationError(
        "--allow-loopback-http needs --issuer: a provider that EnrollKit knows is at https.")
    }
    try checkParts()
  }

  /// A value may be a secret in the wrong place: no text repeats it.
  private func checkParts() throws {
    var given: [String] = []
    for part in parts {
      guard let (key, _) = Self.pair(part) else {
        throw ValidationError("--set: expected part=value, such as domain=dev-1.okta.com.")
      }
      guard ProviderPreset.partNames.contains(key) else {
        let near = ProviderPreset.partNames.min {
          EditDistance.between($0, key) < EditDistance.between($1, key)
        }
        let guess = near.flatMap { EditDistance.between($0, key) <= 2 ? "; perhaps \($0) was meant" : nil }
        let known = ProviderPreset.partNames.joined(separator: ", ")
        throw ValidationError(
          "--set \(Shown.text(key)): no provider has this part\(guess ?? ": expected one of \(known)").")
      }
      guard !given.contains(key) else { throw ValidationError("--set \(key) is given twice.") }
      given.append(key)
    }
  }

  private static func pair(_ part: String) -> (String, String)? {
    guard let equals = part.firstIndex(of: "="), equals != part.startIndex else { return nil }
    return (String(part[..<equals]), String(part[equals...].dropFirst()))
  }

  /// - Parameter fallbackClient: where no client is named.
  /// - Throws: `.usage` if the secret's file cannot be read; `.interrupted` by Ctrl-C while it is read from a pipe.
  func setup(scopes: [String], fallbackClient: String? = nil) throws(Failure) -> ProviderSetup? {
    guard resource == nil, issuer != nil || name != nil, let clientID = clientID ?? fallbackClient
    else { return nil }
    return ProviderSetup(
      issuer: issuer, provider: name, parts: parts.compactMap { Self.pair($0) }, clientID: clientID,
      clientSecret: try clientSecret(), redirectURI: redirectURI, scopes: scopes,
      allowsLoopbackHTTP: allowLoopbackHTTP)
  }

  /// - Throws: as ``setup(scopes:fallbackClient:)``.
  func clientSecret() throws(Failure) -> String? {
    guard let clientSecretFile else { return nil }
    do throws(EnrollError) {
      return try UserDirectories.readClientSecret(at: clientSecretFile, wait: Interrupts.awaitInput)
    } catch {
      throw Failure(
        reading: error, advice: "Name a file with nothing but the client's secret by --client-secret-file.")
    }
  }

  var named: NamedProvider {
    NamedProvider(words: words, resourceAlone: issuer == nil && clientID == nil ? resource : nil)
  }

  /// The same options again.
  var words: [String] {
    var words = ArgumentWords()
    words.add("--resource", resource)
    words.add("--issuer", issuer)
    words.add("--provider", name)
    for part in parts { words.add("--set", part) }
    words.add("--client-id", clientID)
    words.add("--client-secret-file", clientSecretFile)
    words.add("--redirect-uri", redirectURI)
    words.add("--allow-loopback-http", allowLoopbackHTTP)
    return words.list
  }
}
