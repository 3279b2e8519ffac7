// A provider named on the command line: the first sign-in saves it as a profile, so that no later command has to be told.

import EnrollCore
import EnrollJSON

/// What `--issuer` or `--provider` and their companions say.
struct ProviderSetup: Equatable {
  var issuer: String?
  /// The name of a preset.
  var provider: String?
  /// What the preset asks for.
  var parts: [(String, String)] = []
  var clientID: String
  var clientSecret: String?
  var redirectURI: String?
  var scopes: [String]
  var allowsLoopbackHTTP: Bool

  static func == (left: Self, right: Self) -> Bool { left.configuration == right.configuration }

  /// Bearer tokens alone: what goes into `curl -H "Authorization: Bearer …"`. A preset says more than these defaults.
  var configuration: JSON {
    let scopes = scopes.isEmpty && provider == nil ? Self.scopes : scopes
    var members = JSONObject([
      ("provider", provider.map { .string($0) }), ("issuer", issuer.map { .string($0) }),
      ("clientId", .string(clientID)), ("clientSecret", clientSecret.map { .string($0) }),
      ("redirectUri", redirectURI.map { .string($0) }),
      ("scopes", scopes.isEmpty ? nil : .array(scopes.map { .string($0) })),
      ("dpop", .string("never")), ("allowLoopbackHTTP", allowsLoopbackHTTP ? .bool(true) : nil),
    ])
    for (part, value) in parts { members[part] = .string(value) }
    let preset = provider.flatMap { ProviderPreset.named($0) }
    let saysRedirect = preset.map { ASCII.contains($0.text, "redirectUri") } ?? false
    if redirectURI == nil, !saysRedirect { members["redirectUri"] = .string(Self.redirectURI) }
    return .object(members)
  }

  /// For the doctor, where no client is named: nothing is pushed, so that none is named to the provider either.
  var withoutClient: JSON {
    guard var members = configuration.object else { return configuration }
    members["pushedRequests"] = .string("never")
    // The secret of no client: the preset asks for one.
    if let name = provider, ProviderPreset.named(name)?.requires.contains("clientSecret") ?? false {
      members["clientSecret"] = .string("none")
    }
    return .object(members)
  }

  /// With the address, which `status` shows.
  static let scopes = ["openid", "profile", "email", "offline_access"]
  static let redirectURI = ProviderOptions.redirectURI

  /// Leaves `offline_access` out of a configuration with the scopes that this program chose.
  /// - Returns: the other ones; nil where somebody chose the scopes.
  static func withoutOfflineAccess(_ configuration: inout JSON) -> [String]? {
    guard var members = configuration.object,
      members["scopes"] == .array(scopes.map { .string($0) }), members["provider"] == nil
    else { return nil }
    let others = scopes.filter { $0 != "offline_access" }
    members["scopes"] = .array(others.map { .string($0) })
    configuration = .object(members)
    return others
  }

  /// Whether a configuration that is there is for the same client of the same provider.
  func isServed(by configuration: Configuration) -> Bool {
    let issuer = (try? Configuration(json: self.configuration))?.issuer ?? Issuer(self.issuer ?? "")
    return configuration.issuer == issuer && configuration.clientID == ClientID(clientID)
  }

  /// For a redirect that leads to an app.
  /// - Parameter isGiven: the command line names the provider.
  static func redirectAdvice(isGiven: Bool) -> Advice {
    guard isGiven else { return "Configure \(redirectURI)." }
    return
      "Name one to this machine by --redirect-uri, such as \(redirectURI). If the provider allows this client none, register a client for desktop programs."
  }

  /// The advice for an option that was refused.
  /// - Parameter setup: the provider of the command line; nil for that of a resource.
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
    case "provider":
      "Pass the name of a provider that EnrollKit knows by --provider, or the provider's address by --issuer."
    case "redirectUri": "Pass a redirect URI that the provider registered by --redirect-uri."
    default: "See \(.loginHelp)."
    }
  }

  /// The configuration as people read it: a member a line.
  static func page(_ configuration: JSON) -> String {
    let lines = (configuration.object?.members ?? []).map { member in
      "  \(JSON.string(member.key).text): \(member.value.text)"
    }
    return "{\n" + lines.joined(separator: ",\n") + "\n}\n"
  }
}
