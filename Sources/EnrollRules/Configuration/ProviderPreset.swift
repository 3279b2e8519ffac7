// Presets for providers: `"provider": "okta", "domain": "dev-1.okta.com"` becomes a configuration.

public import EnrollCrypto
import EnrollJSON

/// The preset of one provider.
public struct ProviderPreset: Sendable {
  /// The value of the key `provider`, such as `google`.
  public let name: String
  /// The provider's name for people.
  public let title: String
  /// The provider's hosts and their subdomains, if the provider is one service for all customers.
  let hosts: [String]
  /// The keys that a configuration with this preset needs in addition to the client id.
  public let requires: [String]
  /// The configuration as JSON. A name in angle brackets, such as `<domain>`, is the placeholder of a part, that is, of
  /// a value that the user of the preset provides.
  public let text: String
  /// The default values of optional parts.
  public let defaults: [(part: String, value: String)]

  init(
    _ name: String, _ title: String, hosts: [String] = [], requires: [String] = [], _ text: String,
    defaults: [(part: String, value: String)] = []
  ) {
    self.name = name
    self.title = title
    self.hosts = hosts
    self.requires = requires
    self.text = text
    self.defaults = defaults
  }

  /// The preset for the provider with this issuer; nil if EnrollKit has no such preset.
  public static func at(_ issuer: Issuer) -> ProviderPreset? {
    guard let host = (try? StrictURL(issuer.of(tenant: "tenant").text))?.hostText else { return nil }
    return all.first { preset in
      preset.hosts.contains {
        ASCII.equals(host, $0) || ("." + host).utf8.suffix($0.utf8.count + 1).elementsEqual(("." + $0).utf8)
      }
    }
  }

  /// Advice for an error: to use the preset for this provider. It is empty if the configuration uses a preset, or if
  /// EnrollKit has no preset for the provider.
  package static func advice(for configuration: Configuration) -> String {
    guard configuration.preset == nil, let preset = at(configuration.issuer) else { return "" }
    return "; EnrollKit knows this provider: configure provider \(preset.name)"
  }

  public static func named(_ name: String) -> ProviderPreset? { all.first { ASCII.equals($0.name, name) } }

  /// The keys of all parts of all presets.
  public static let partNames = partKeys.map { $0.name }

  /// The keys of the parts that this preset requires.
  public var parts: [String] {
    Self.partKeys.map { $0.name }.filter { part in
      guard !defaults.contains(where: { ASCII.equals($0.part, part) }) else { return false }
      return Self.names(in: text).contains { ASCII.equals(Self.source(of: $0), part) }
    }
  }
}

// MARK: Expanding

extension ProviderPreset {
  /// The configuration completed with the preset that it names. The configuration's own members take precedence over
  /// the preset's. In `endpoints`, `profile` and similar objects, each member takes precedence separately. A
  /// configuration without `provider` is returned unchanged.
  /// - Throws: for an unknown preset, for a part that is missing, malformed or of another preset, and for the issuer of
  ///   another provider.
  static func expanded(_ json: JSON) throws(ConfigurationFault) -> JSON {
    guard let object = json.object,
      // If there is an unknown key, the reader reports it. Here it would be reported as a missing part.
      object.members.allSatisfy({ member in Configuration.keys.contains { $0.isSpelt(member.key) } })
    else { return json }
    guard let member = object["provider"] else {
      for member in object.members where partKeys.contains(where: { $0.isSpelt(member.key) }) {
        throw refusal(member.key, "it is part of a provider, and provider is missing")
      }
      return json
    }
    guard let name = member.string else { throw refusal("provider", "expected a string, got \(member.kind)") }
    guard let preset = named(name) else { throw unknown(name) }
    return .object(try preset.completed(object))
  }

  private func completed(_ own: JSONObject) throws(ConfigurationFault) -> JSONObject {
    let used = Self.names(in: text).map { Self.source(of: $0) }
    for key in Self.partKeys where Self.own(key.name, in: own) != nil {
      guard used.contains(where: { ASCII.equals($0, key.name) }) else {
        throw Self.refusal(key.name, "the provider \(name) has no such part")
      }
    }
    for key in requires where Self.own(key, in: own) == nil {
      throw Self.refusal(key, "the provider \(name) needs it")
    }
    guard let preset = (try? JSON.parse(Array(text.utf8)))?.object else {
      throw Self.refusal("provider", "the preset \(name) is malformed")
    }
    var complete = own
    for member in preset.members {
      let key = member.key
      let written = Self.own(key, in: own)
      if ASCII.equals(member.key, "issuer"), let written {
        try checkIssuer(written, preset: member.value, own)
      }
      switch (written, member.value) {
      case (nil, let value): complete[member.key] = try filled(value, own)
      case (.object(let written)?, .object(let value)):
        var both = try filled(.object(value), own).object ?? value
        for member in written.members {
          // The host may spell this key differently, so the preset's member is removed: it has the canonical spelling.
          both[Self.canonical(member.key, in: Self.keys(of: key))] = nil
          both[member.key] = member.value
        }
        for member in own.members where ASCII.equals(Self.canonical(member.key), key) {
          complete[member.key] = .object(both)
        }
      case (.some, _): break
      }
    }
    return complete
  }

  /// A configured issuer may replace the preset's issuer if the preset's issuer needs parts that are not given.
  /// Otherwise the two must be equal.
  private func checkIssuer(_ written: JSON, preset: JSON, _ own: JSONObject) throws(ConfigurationFault) {
    guard let written = written.string, let text = preset.string else { return }
    let parts = Self.names(in: text)
    let isGiven = parts.allSatisfy { Self.own(Self.source(of: $0), in: own) != nil }
    guard isGiven, let expected = try filled(preset, own).string, !ASCII.equals(expected, written) else {
      return
    }
    throw Self.refusal(
      "issuer", "the provider \(name) is at \(expected); leave out issuer, or provider")
  }

  private func filled(_ json: JSON, _ own: JSONObject) throws(ConfigurationFault) -> JSON {
    switch json {
    case .string(let text): return .string(try filled(text, own))
    case .object(let object):
      var copy = JSONObject()
      for member in object.members { copy[member.key] = try filled(member.value, own) }
      return .object(copy)
    case .array(let items):
      var copy: [JSON] = []
      for item in items { copy.append(try filled(item, own)) }
      return .array(copy)
    default: return json
    }
  }

  private func filled(_ text: String, _ own: JSONObject) throws(ConfigurationFault) -> String {
    var filled = ""
    for (index, piece) in text.utf8.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false)
      .enumerated()
    {
      guard index > 0, let end = piece.firstIndex(of: UInt8(ascii: ">")) else {
        filled += String(decoding: piece, as: UTF8.self)
        continue
      }
      filled += try value(of: String(decoding: piece[..<end], as: UTF8.self), own)
      filled += String(decoding: piece[end...].dropFirst(), as: UTF8.self)
    }
    return filled
  }

  private func value(of part: String, _ own: JSONObject) throws(ConfigurationFault) -> String {
    let key = Self.source(of: part)
    let given = Self.own(key, in: own)
    guard let given else {
      if let standard = defaults.first(where: { ASCII.equals($0.part, key) })?.value { return standard }
      throw Self.refusal(key, "the provider \(name) needs it")
    }
    guard let value = given.string else { throw Self.refusal(key, "expected a string, got \(given.kind)") }
    if let problem = Self.problem(with: value, as: key) { throw Self.refusal(key, "\(problem)") }
    let bytes = value.utf8
    if ASCII.equals(part, "region") { return Self.text(bytes.prefix { $0 != UInt8(ascii: "_") }) }
    if ASCII.equals(part, "directory") { return Self.text(bytes.prefix { $0 != UInt8(ascii: ".") }) }
    if ASCII.equals(part, "googleClient") {
      let suffix = ".apps.googleusercontent.com".utf8
      guard bytes.count > suffix.count, bytes.suffix(suffix.count).elementsEqual(suffix) else {
        throw Self.refusal(
          key, "expected a client id of Google's, which ends with .apps.googleusercontent.com")
      }
      return Self.text(bytes.dropLast(suffix.count))
    }
    return value
  }

  /// The fault of a part; nil if the part is valid. Parts must be checked, because they are inserted into a URL without
  /// encoding.
  private static func problem(with value: String, as key: String) -> String? {
    if ASCII.equals(key, "clientId") {
      return value.utf8.allSatisfy { PercentEncoding.isUnreserved($0) }
        ? nil : "the provider's addresses contain it; expected letters, digits and -._~ alone"
    }
    if ASCII.equals(key, "userPool") {
      let halves = value.utf8.split(separator: UInt8(ascii: "_"))
      guard halves.count == 2 else { return "expected the id of the user pool, such as eu-west-1_aBcDeF" }
    }
    if ASCII.equals(key, "tenant") {
      return Issuer.isTenant(value)
        ? nil : "expected the tenant's GUID, such as 72f988bf-86f1-41af-91ab-2d7cd011db47"
    }
    let isDomain = ASCII.equals(key, "domain")
    let isFit = value.utf8.allSatisfy {
      PercentEncoding.isUnreserved($0)
        || isDomain && ($0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/"))
    }
    guard isFit, (1...255).contains(value.utf8.count),
      !value.utf8.starts(with: "http".utf8) || !value.utf8.contains(UInt8(ascii: "/")),
      value.utf8.last != UInt8(ascii: "/")
    else {
      return isDomain
        ? "expected a host such as id.example.com, without https:// and without a slash at its end"
        : "expected 1 to 255 letters, digits and -._~"
    }
    return nil
  }
}

// MARK: Names

extension ProviderPreset {
  /// The names between `<` and `>`, without duplicates.
  private static func names(in text: String) -> [String] {
    var names: [String] = []
    for piece in text.utf8.split(separator: UInt8(ascii: "<")).dropFirst(
      text.utf8.first == UInt8(ascii: "<") ? 0 : 1)
    {
      guard let end = piece.firstIndex(of: UInt8(ascii: ">")) else { continue }
      names = Scopes.adding(self.text(piece[..<end]), to: names)
    }
    return names
  }

  /// The name of the configuration key that gives the value of a part.
  private static func source(of part: String) -> String {
    let derived = [("region", "userPool"), ("directory", "domain"), ("googleClient", "clientId")]
    return derived.first { ASCII.equals($0.0, part) }?.1 ?? part
  }

  /// The value of a key in a configuration, in any of the key's spellings.
  private static func own(_ name: String, in object: JSONObject) -> JSON? {
    object.members.first { ASCII.equals(canonical($0.key), name) && !$0.value.isNull }?.value
  }

  /// The documented spelling of a key of a configuration.
  private static func canonical(
    _ spelling: String, in keys: [ConfigurationKey] = Configuration.keys
  ) -> String {
    keys.first { $0.isSpelt(spelling) }?.name ?? spelling
  }

  /// The keys of the object that is the value of the key `name`.
  private static func keys(of name: String) -> [ConfigurationKey] {
    guard case .named(_, _, .object(let keys))? = Configuration.keys.first(where: { $0.isSpelt(name) })?.shape
    else { return [] }
    return keys
  }

  private static func unknown(_ name: String) -> ConfigurationFault {
    let nearest = all.map { ($0.name, EditDistance.between(name, $0.name)) }.min { $0.1 < $1.1 }
    let guess = nearest.flatMap { $0.1 <= max($0.0.utf8.count / 2, 1) ? "; perhaps \($0.0) was meant" : nil }
    return refusal(
      "provider",
      "unknown provider \(PrintableText.bounded(name, maximumBytes: 64))\(guess ?? "; expected one of \(Scopes.joined(all.map { $0.name }))")"
    )
  }

  private static func text(_ bytes: Substring.UTF8View) -> String { String(decoding: bytes, as: UTF8.self) }

  private static func refusal(_ key: String, _ fault: ConfigurationFault) -> ConfigurationFault {
    fault.inside(key)
  }
}

extension Configuration {
  /// The configuration for a provider with a preset (`ProviderPreset.all`).
  /// - Parameters:
  ///   - parts: the values of the preset's parts: `domain`, `tenant` and so on.
  ///   - redirectURI: the redirect URI; nil for the preset's redirect URI.
  ///   - scopes: the scopes; nil for the preset's scopes.
  /// - Throws: `.configuration`, whose `field` is the key at fault, as it is named in JSON.
  public init(
    provider: String, parts: [(String, String)] = [], clientID: String, clientSecret: Secret? = nil,
    redirectURI: String? = nil, scopes: [String]? = nil
  ) throws(EnrollError) {
    var object = JSONObject([("provider", .string(provider)), ("clientId", .string(clientID))])
    for (key, value) in parts { object[key] = .string(value) }
    object["clientSecret"] = clientSecret.map { .string($0.reveal()) }
    object["redirectUri"] = redirectURI.map { .string($0) }
    object["scopes"] = scopes.map { .array($0.map { .string($0) }) }
    try self.init(json: .object(object))
  }
}
