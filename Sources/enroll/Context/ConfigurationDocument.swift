// The document of a configuration, which the file of a profile contains. The program makes the document from options,
// edits it and saves it. Keys that the user added stay in it. A client is opened only with the checked configuration.

import EnrollRules
import EnrollJSON
import EnrollPosix

struct ConfigurationDocument: Equatable {
  /// The content of the file: an object, unless the file is invalid. The object may have the member
  /// ``credentialHosts``.
  private(set) var json: JSON

  private enum Key: String {
    case issuer, provider, resource, scopes, prompt, caFile, clientId, clientSecret, redirectUri
    case tokenEndpointAuthMethod, pushedRequests, allowLoopbackHTTP, dpop
  }

  /// The keys that a registration of a client sets.
  private static let clientKeys: [Key] = [.clientId, .clientSecret, .tokenEndpointAuthMethod]

  init(_ json: JSON) { self.json = json }

  /// The configuration for the library.
  /// - Throws: `.configuration` if the document is not a valid configuration.
  func checked() throws(EnrollError) -> Configuration { try Configuration(json: forLibrary) }

  /// The document without the member that only this program reads.
  var forLibrary: JSON { UserDirectories.configuration(in: json) }

  /// The hosts that get a token from `enroll credential` without `--host` (``ProfileHost``).
  var credentialHosts: JSON? {
    get { json[UserDirectories.credentialHosts] }
    set {
      guard var members = json.object else { return }
      members[UserDirectories.credentialHosts] = newValue
      json = .object(members)
    }
  }

  // MARK: Keys, by their documented names

  var issuer: String? { self[.issuer]?.string }
  var provider: String? { self[.provider]?.string }
  /// The resource of the tokens; nil if the profile is only for a provider.
  var resource: String? { self[.resource]?.string }
  var clientID: String? { self[.clientId]?.string }
  var redirectURI: String? { self[.redirectUri]?.string }
  var allowsLoopbackHTTP: Bool { self[.allowLoopbackHTTP]?.bool ?? false }

  var certificateFile: String? {
    get { self[.caFile]?.string }
    set { self[.caFile] = newValue.map { .string($0) } }
  }

  var scopes: [String]? {
    get { self[.scopes]?.array?.compactMap { $0.string } }
    set { self[.scopes] = newValue.map { .array($0.map { .string($0) }) } }
  }

  var prompt: String? {
    get { self[.prompt]?.string }
    set { self[.prompt] = newValue.map { .string($0) } }
  }

  /// Whether tokens must be bound to a key (DPoP).
  var requiresDPoP: Bool {
    get { self[.dpop]?.string == "always" }
    set { self[.dpop] = newValue ? .string("always") : nil }
  }

  /// The value for a part of the provider's preset, such as its domain.
  func part(_ name: String) -> String? { json[name]?.string }

  /// The issuer as users see it: from the configuration, whichever spelling of the key it uses, or from the preset.
  var shownIssuer: String? {
    (try? checked())?.issuer.text
      ?? ["issuer", "discovery_uri", "discoveryUri"].lazy.compactMap { part($0) }.first
  }

  /// The issuer and the client as users see them.
  var shownClient: String {
    let client = (try? checked())?.clientID.text ?? clientID
    return "\(Shown.text(shownIssuer ?? "no issuer")) and client \(Shown.text(client ?? "without an id"))"
  }

  // MARK: Other documents

  /// Whether the other document has the same client at the same server.
  func hasSameClient(as other: ConfigurationDocument) -> Bool {
    guard let one = try? checked(), let two = try? other.checked() else {
      return self[.clientId] == other[.clientId] && self[.issuer] == other[.issuer]
    }
    return one.issuer == two.issuer && one.clientID == two.clientID
  }

  /// This document with the client of another document.
  func withClient(of other: ConfigurationDocument) -> ConfigurationDocument {
    var document = self
    for key in Self.clientKeys { document[key] = other[key] }
    return document
  }

  /// This document with another client at the same server: all keys of `other` replace the keys here. The remaining
  /// keys stay, except those that describe the previous client.
  func replacingClient(by other: ConfigurationDocument) -> ConfigurationDocument {
    guard var members = json.object, let registered = other.json.object else { return other }
    for key in Configuration.keys where registered[key.name] != nil || Self.ofOneClient.contains(key.name) {
      for spelling in [key.name] + key.otherSpellings { members[spelling] = nil }
    }
    for member in registered.members { members[member.key] = member.value }
    return ConfigurationDocument(.object(members))
  }

  /// The keys that describe one client. They are removed even if the new registration does not set them.
  private static let ofOneClient = [
    Key.clientSecret.rawValue, Key.tokenEndpointAuthMethod.rawValue, "clientKeyFile", "clientKeyId",
    "clientKeyAlgorithm", "clientAssertionAudience",
  ]

  /// This document without the client's secret.
  var withoutSecret: ConfigurationDocument {
    var document = self
    document[.clientSecret] = nil
    return document
  }

  /// This document for a check that has no client id: pushed requests are disabled, because they would send the
  /// provider a client id.
  /// - Parameter secret: a placeholder for a preset that requires a secret.
  func withoutPushes(secret: String?) -> ConfigurationDocument {
    var document = self
    document[.pushedRequests] = .string("never")
    if let secret { document[.clientSecret] = .string(secret) }
    return document
  }

  /// The document as users read it, with one member in each line.
  var page: String {
    let lines = (json.object?.members ?? []).map { member in
      "  \(JSON.string(member.key).text): \(member.value.text)"
    }
    return "{\n" + lines.joined(separator: ",\n") + "\n}\n"
  }

  private subscript(_ key: Key) -> JSON? {
    get { json[key.rawValue] }
    set {
      guard var members = json.object else { return }
      members[key.rawValue] = newValue
      json = .object(members)
    }
  }
}

extension JSON {
  /// Compact text.
  var text: String { String(decoding: serialized(), as: UTF8.self) }
}
