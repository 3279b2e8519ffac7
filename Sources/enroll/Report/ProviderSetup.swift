// A provider from the command line. The first sign-in saves it as a profile, so that later commands need no options.

import EnrollRules
import EnrollJSON

/// The values of `--issuer` or `--provider`, and of the options that belong to them.
struct ProviderSetup: Equatable {
  var issuer: String?
  /// The name of a preset.
  var provider: String?
  /// The values of the preset's parts, and of other keys of a configuration.
  var settings: [ConfigurationSetting] = []
  var clientID: String
  var clientSecret: String?
  var clientKeyFile: String?
  var redirectURI: String?
  /// The scopes to request; empty for the default of the library or the preset.
  var scopes: [String]
  var allowsLoopbackHTTP: Bool
  /// The prompt for every sign-in that sets no prompt.
  var prompt: String?

  static func == (left: Self, right: Self) -> Bool { left.configuration == right.configuration }

  /// The configuration. It uses only Bearer tokens, which work in `curl -H "Authorization: Bearer …"`. A preset may
  /// replace these defaults.
  var configuration: ConfigurationDocument {
    var members = JSONObject([
      ("provider", provider.map { .string($0) }), ("issuer", issuer.map { .string($0) }),
      ("clientId", .string(clientID)), ("clientSecret", clientSecret.map { .string($0) }),
      ("clientKeyFile", clientKeyFile.map { .string($0) }),
      ("redirectUri", redirectURI.map { .string($0) }),
      ("scopes", scopes.isEmpty ? nil : .array(scopes.map { .string($0) })),
      ("prompt", prompt.map { .string($0) }), ("dpop", .string("never")),
      ("allowLoopbackHTTP", allowsLoopbackHTTP ? .bool(true) : nil),
    ])
    let preset = provider.flatMap { ProviderPreset.named($0) }
    let saysRedirect = preset.map { ASCII.contains($0.text, "redirectUri") } ?? false
    if redirectURI == nil, !saysRedirect { members["redirectUri"] = .string(Self.redirectURI) }
    return ConfigurationDocument(settings.reduce(.object(members)) { $1.applied(to: $0) })
  }

  /// The configuration for `enroll doctor` without a client id.
  var withoutClient: ConfigurationDocument {
    let requiresSecret =
      provider.flatMap { ProviderPreset.named($0) }?.requires.contains("clientSecret") ?? false
    return configuration.withoutPushes(secret: requiresSecret ? "none" : nil)
  }

  static let redirectURI = ProviderOptions.redirectURI

  /// Whether an existing configuration has the same provider and client.
  func isServed(by configuration: Configuration) -> Bool {
    let issuer = (try? self.configuration.checked())?.issuer ?? Issuer(self.issuer ?? "")
    return configuration.issuer == issuer && configuration.clientID == ClientID(clientID)
  }

  /// The advice for a redirect URI that belongs to an app.
  /// - Parameter isGiven: whether the command line names the provider.
  static func redirectAdvice(isGiven: Bool) -> Advice {
    guard isGiven else { return "Set it by --set redirectUri=\(redirectURI)." }
    return
      "Name one to this machine by --redirect-uri, such as \(redirectURI). If the provider allows this client none, register a client for desktop programs."
  }

  /// The advice for an invalid option.
  /// - Parameter setup: the provider from the command line; nil for the provider of a resource.
  static func advice(_ error: EnrollError, of setup: ProviderSetup?) -> Advice {
    if let part = error.field, ProviderPreset.partNames.contains(part),
      let preset = setup?.provider.flatMap({ ProviderPreset.named($0) })
    {
      let isPart = preset.parts.contains(part) || preset.defaults.contains { $0.part == part }
      return isPart ? "Pass the provider's own by --set \(part)=VALUE." : "Leave out --set \(part)."
    }
    return switch error.field {
    case "issuer" where ASCII.contains(error.message, "back end"): "See docs/back-end.md."
    case "issuer":
      "Pass the provider's https address by --issuer; for a provider on this machine add --allow-loopback-http."
    case "clientId": "Pass the client id that the provider registered by --client-id."
    case "clientSecret": "Name a file with nothing but the client's secret by --client-secret-file."
    case "clientKeyFile":
      "Name the file with the client's private key by --client-key-file: PKCS #8 in PEM, or a JWK."
    case "provider":
      "Pass the name of a provider that EnrollKit knows by --provider, or the provider's address by --issuer."
    case "redirectUri": "Pass a redirect URI that the provider registered by --redirect-uri."
    case let key? where ConfigurationSetting.accepts(key):
      "Pass another value by --set \(key)=VALUE. See \(.loginHelp)."
    default: "See \(.loginHelp)."
    }
  }
}
