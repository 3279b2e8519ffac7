// A provider that is named on the command line, before there is a profile of it.

import EnrollArguments
import EnrollCore
import EnrollPosix

struct ProviderArguments {
  private static let resourceURL = Parameter.option(
    "resource", value: "url",
    help: "An API or MCP server: the first sign-in finds its provider, asks you, and registers (RFC 9728).")
  private static let issuerURL = Parameter.option(
    "issuer", value: "url",
    help: "The provider's issuer URL, for the first sign-in, which saves these options as the profile.")
  private static let knownName = Parameter.option(
    "provider", value: "name", help: "A provider that EnrollKit knows, such as google, instead of --issuer.",
    completion: .words(ProviderPreset.all.map { $0.name }))
  private static let set = Parameter.repeated(
    "set", value: "part=value",
    help:
      "With --provider: a value that the provider needs, such as domain=dev-1.okta.com. Repeatable.")
  private static let client = Parameter.option(
    "client-id", value: "id",
    help: "With --issuer or --provider: the client id that the provider assigned.")
  private static let secretFile = Parameter.option(
    "client-secret-file", value: "path",
    help:
      "With --client-id: the file with the client's secret, if the provider gave this client one; the profile keeps the secret.",
    completion: .files(extension: nil))
  private static let redirect = Parameter.option(
    "redirect-uri", value: "url",
    help:
      "With --issuer or --provider: the redirect URI. By default the provider's, or \(ProviderSetup.redirectURI)."
  )
  private static let loopbackHTTP = Parameter.flag(
    "allow-loopback-http", help: "With --issuer: allow http to a provider on this machine.")

  static let arguments = [
    resourceURL.argument, issuerURL.argument, knownName.argument, set.argument, client.argument,
    secretFile.argument, redirect.argument, loopbackHTTP.argument,
  ]

  let resource: String?
  let issuer: String?
  let name: String?
  private let parts: [String]
  let clientID: String?
  let clientSecretFile: String?
  let redirectURI: String?
  let allowLoopbackHTTP: Bool

  init(_ values: Values) throws(UsageError) {
    resource = values[Self.resourceURL]
    issuer = values[Self.issuerURL]
    name = values[Self.knownName]
    parts = values[Self.set]
    clientID = values[Self.client]
    clientSecretFile = values[Self.secretFile]
    redirectURI = values[Self.redirect]
    allowLoopbackHTTP = values[Self.loopbackHTTP]
    try check()
    try checkParts()
  }

  private func check() throws(UsageError) {
    if clientID == nil, clientSecretFile != nil {
      throw UsageError("--client-secret-file needs --client-id.")
    }
    if resource == "" { throw UsageError("--resource has no value.") }
    if resource != nil, name != nil {
      throw UsageError("--resource and --provider exclude each other: the resource names its provider.")
    }
    if issuer == nil, name == nil, resource == nil,
      clientID != nil || redirectURI != nil || allowLoopbackHTTP
    {
      throw UsageError(
        clientID == nil
          ? "--redirect-uri and --allow-loopback-http need --issuer or --resource."
          : "--client-id needs --issuer, --provider or --resource.")
    }
    if name == nil, !parts.isEmpty { throw UsageError("--set needs --provider.") }
    if name != nil, allowLoopbackHTTP {
      throw UsageError(
        "--allow-loopback-http needs --issuer: a provider that EnrollKit knows is at https.")
    }
  }

  /// A value may be a secret in the wrong place: no text repeats it.
  private func checkParts() throws(UsageError) {
    var given: [String] = []
    for part in parts {
      guard let (key, _) = Self.pair(part) else {
        throw UsageError("--set: expected part=value, such as domain=dev-1.okta.com.")
      }
      guard ProviderPreset.partNames.contains(key) else {
        let meant = EditDistance.nearest(to: key, among: ProviderPreset.partNames)
        let known = ProviderPreset.partNames.joined(separator: ", ")
        throw UsageError(
          "--set \(Shown.text(key)): no provider has this part"
            + (meant.map { "; perhaps \($0) was meant." } ?? ": expected one of \(known)."))
      }
      guard !given.contains(key) else { throw UsageError("--set \(key) is given twice.") }
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
