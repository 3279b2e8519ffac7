// A provider on the command line, before it has a profile.

import EnrollArguments
import EnrollRules
import EnrollJSON
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
    "set", value: "key=value",
    help:
      "A key of the configuration: a value that the provider of --provider needs, such as domain=dev-1.okta.com, or any other key, such as dpop=auto. Changes the profile if there is one. Repeatable.",
    completion: .words(ConfigurationSetting.candidates))
  private static let client = Parameter.option(
    "client-id", value: "id",
    help: "With --issuer or --provider: the client id that the provider assigned.")
  private static let secretFile = Parameter.option(
    "client-secret-file", value: "path",
    help:
      "With --client-id: the file with the client's secret, if the provider gave this client one; the profile keeps the secret.",
    completion: .files(extension: nil))
  private static let keyFile = Parameter.option(
    "client-key-file", value: "path",
    help:
      "With --client-id: the file with the client's private key (private_key_jwt), PEM or a JWK; the profile keeps the path.",
    completion: .files(extension: nil))
  private static let metadataDocument = Parameter.option(
    "client-metadata", value: "url",
    help:
      "With --resource: the https URL of a client id metadata document, for servers that take one as a client id."
  )
  private static let met = Parameter.option(
    "challenge", value: "header",
    help:
      "With --resource: the value of WWW-Authenticate in the resource's 401 or 403; its scopes are requested."
  )
  private static let redirect = Parameter.option(
    "redirect-uri", value: "url",
    help:
      "With --issuer or --provider: the redirect URI. By default the provider's, or \(ProviderSetup.redirectURI)."
  )
  private static let loopbackHTTP = Parameter.flag(
    "allow-loopback-http", help: "With --issuer: allow http to a provider on this machine.")

  static let arguments = [
    resourceURL.argument, issuerURL.argument, knownName.argument, set.argument, client.argument,
    secretFile.argument, keyFile.argument, metadataDocument.argument, met.argument, redirect.argument,
    loopbackHTTP.argument,
  ]

  let resource: String?
  let issuer: String?
  let name: String?
  let settings: [ConfigurationSetting]
  let clientID: String?
  let clientSecretFile: String?
  /// The path of the key file. It is absolute, because the profile is used in other directories, too.
  let clientKeyFile: String?
  /// The URL of a client id metadata document.
  let clientMetadata: String?
  /// The resource's `WWW-Authenticate` for a request without a token, or with a token whose scopes are insufficient.
  let challenge: String?
  let redirectURI: String?
  let allowLoopbackHTTP: Bool

  init(_ values: Values) throws(UsageError) {
    resource = values[Self.resourceURL]
    issuer = values[Self.issuerURL]
    name = values[Self.knownName]
    var settings: [ConfigurationSetting] = []
    for word in values[Self.set] { settings.append(try ConfigurationSetting(word)) }
    self.settings = settings
    clientID = values[Self.client]
    clientSecretFile = values[Self.secretFile]
    clientKeyFile =
      if let typed = values[Self.keyFile] {
        try LastingFile.path(typed, of: "--client-key-file")
      } else {
        nil
      }
    clientMetadata = values[Self.metadataDocument]
    challenge = values[Self.met]
    redirectURI = values[Self.redirect]
    allowLoopbackHTTP = values[Self.loopbackHTTP]
    try check()
    try checkSettings()
  }

  private func check() throws(UsageError) {
    if clientID == nil, clientSecretFile != nil {
      throw UsageError("--client-secret-file needs --client-id.")
    }
    if clientKeyFile != nil, clientID == nil || resource != nil {
      throw UsageError("--client-key-file needs --client-id, and --issuer or --provider.")
    }
    if clientKeyFile != nil, clientSecretFile != nil {
      throw UsageError("--client-key-file and --client-secret-file exclude each other.")
    }
    if resource == "" { throw UsageError("--resource has no value.") }
    if resource == nil, clientMetadata != nil || challenge != nil {
      throw UsageError("--client-metadata and --challenge need --resource.")
    }
    if clientMetadata != nil, clientID != nil {
      throw UsageError("--client-metadata and --client-id exclude each other: each names the client.")
    }
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
    if name != nil, issuer == nil, allowLoopbackHTTP {
      throw UsageError(
        "--allow-loopback-http needs --issuer, also beside --provider: the address of the provider on this machine."
      )
    }
  }

  private func checkSettings() throws(UsageError) {
    var given: [String] = []
    if redirectURI != nil { given.append("redirectUri") }
    if allowLoopbackHTTP { given.append("allowLoopbackHTTP") }
    for (index, setting) in settings.enumerated() {
      if let part = settings[..<index].first(where: { setting.replaces($0) }) {
        throw UsageError(
          "--set \(setting.key) would replace --set \(part.key). Give \(setting.key) first, or give \(part.key) inside it."
        )
      }
      guard !given.contains(setting.key) else { throw UsageError("\(setting.key) is given twice.") }
      given.append(setting.key)
    }
  }

  /// The given configuration, with the keys that the command line sets.
  func applied(to document: ConfigurationDocument) -> ConfigurationDocument {
    ConfigurationDocument(settings.reduce(document.json) { $1.applied(to: $0) })
  }

  /// The provider that the command line names.
  /// - Parameter fallbackClient: the client id to use if the command line names no client id.
  /// - Throws: `.usage` if the secret's file cannot be read; `.interrupted` by Ctrl-C while it is read from a pipe.
  func setup(scopes: [String], fallbackClient: String? = nil) throws(Failure) -> ProviderSetup? {
    guard resource == nil, issuer != nil || name != nil, let clientID = clientID ?? fallbackClient
    else { return nil }
    return ProviderSetup(
      issuer: issuer, provider: name, settings: settings, clientID: clientID,
      clientSecret: try clientSecret(), clientKeyFile: clientKeyFile, redirectURI: redirectURI,
      scopes: scopes,
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
    NamedProvider(
      words: words, settingWords: settingWords,
      resourceAlone: issuer == nil && clientID == nil ? resource : nil)
  }

  /// The options that change an existing profile.
  var settingWords: [String] { settings.flatMap { ["--set", $0.word] } }

  /// These options as arguments for another command line.
  var words: [String] {
    var words = ArgumentWords()
    words.add("--resource", resource)
    words.add("--issuer", issuer)
    words.add("--provider", name)
    for setting in settings { words.add("--set", setting.word) }
    words.add("--client-id", clientID)
    words.add("--client-secret-file", clientSecretFile)
    words.add("--client-key-file", clientKeyFile)
    words.add("--client-metadata", clientMetadata)
    words.add("--redirect-uri", redirectURI)
    words.add("--allow-loopback-http", allowLoopbackHTTP)
    return words.list
  }
}
