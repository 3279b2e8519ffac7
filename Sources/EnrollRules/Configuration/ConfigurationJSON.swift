// Reads a configuration from JSON, by the table of its keys.

import EnrollCrypto
public import EnrollJSON

extension Configuration {
  /// - Throws: `.configuration`, whose `field` is the key at fault, with its path (`endpoints.tokenEndpoint`).
  public init(json: JSON) throws(EnrollError) { try self.init(json: json, isOfServer: false) }

  /// The configuration of a server, which can keep a secret: providers that have no public clients are accepted, too.
  /// - Throws: as ``init(json:)``.
  package init(ofServer json: JSON) throws(EnrollError) { try self.init(json: json, isOfServer: true) }

  private init(json: JSON, isOfServer: Bool) throws(EnrollError) {
    do throws(ConfigurationFault) {
      let keys = Configuration.keys
      let reader = try ConfigurationReader(checking: ProviderPreset.expanded(json), keys: keys)
      try Configuration.requirePlaces(reader)
      self.init(unchecked: Configuration.issuer(reader), "", "")
      self.isOfServer = isOfServer
      for key in keys {
        guard let value = reader.value(key.name) else { continue }
        key.read?(&self, ConfigurationValue(json: value))
      }
      if reader.value("issuer") == nil { discoveryURI = nil }
      try checkAbsentKeys(reader)
      try check()
    } catch {
      throw error.error(.written(json))
    }
  }

  /// Throws if `issuer` or `redirectUri` is missing. Another key may give the value: `discoveryUri`, or `provider`.
  private static func requirePlaces(_ reader: ConfigurationReader) throws(ConfigurationFault) {
    for (key, other) in [("issuer", "discoveryUri"), ("redirectUri", "redirectUri")]
    where reader.value(key) ?? reader.value(other) == nil {
      let hint =
        reader.text("provider").map { "; the provider \($0) has no usual one" }
        ?? "; or name a provider that EnrollKit knows, in provider"
      throw ConfigurationFault("the key is missing\(hint)").inside(key)
    }
  }

  /// The issuer. If the key `issuer` is absent, the issuer comes from `discoveryUri`: it is the URL without the
  /// well-known path, or the URL itself, because some SDKs use the name `discoveryUri` for the issuer.
  private static func issuer(_ reader: ConfigurationReader) -> Issuer {
    if let issuer = reader.text("issuer") { return Issuer(issuer) }
    let text = reader.text("discoveryUri") ?? ""
    let suffix = Issuer.discoveryPath
    guard text.utf8.count > suffix.utf8.count,
      text.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    else { return Issuer(text) }
    return Issuer(String(decoding: text.utf8.dropLast(suffix.utf8.count), as: UTF8.self))
  }

  /// Checks for faults that a `Configuration` cannot show, because it does not distinguish an absent key from a
  /// default.
  private func checkAbsentKeys(_ reader: ConfigurationReader) throws(ConfigurationFault) {
    // An empty list looks like no tenant, but would mean every tenant.
    if let tenants = reader.texts("tenants"), tenants.isEmpty {
      throw ConfigurationFault("expected at least one GUID; leave the key out to admit every tenant")
        .inside("tenants")
    }
    // A preset may set the audience of assertions, although the client has no key.
    let own = preset == nil ? ["clientAssertionAudience"] : []
    for key in ["clientKeyId", "clientKeyAlgorithm"] + own where clientKey == nil && reader.value(key) != nil
    {
      throw ConfigurationFault("it needs \(key: "clientKeyFile")").inside(key)
    }
  }
}

/// A value of a configuration in JSON. The reader has checked that the value has the type that the shape of its key
/// requires.
struct ConfigurationValue {
  let json: JSON

  var text: String { json.string ?? "" }
  var flag: Bool { json.bool ?? false }
  var integer: Int64 { json.integer ?? 0 }
  var texts: [String] { json.array?.compactMap { $0.string } ?? [] }
  /// A list of scopes, or scopes separated by spaces.
  var scopes: [String] { json.string.map { Scopes.split($0) } ?? texts }
  /// The number of seconds; nil for the word `never`.
  var seconds: Int64? { json.integer }
  var algorithm: SignatureAlgorithm? { SignatureAlgorithm(name: text) }

  /// The members of an object with the host's own names.
  var fields: [(String, String)] {
    json.object?.members.compactMap { member in member.value.string.map { (member.key, $0) } } ?? []
  }

  var endpoints: Endpoints {
    Endpoints(
      authorization: json["authorizationEndpoint"]?.string,
      token: json["tokenEndpoint"]?.string,
      jwks: json["jwksUri"]?.string,
      userinfo: json["userinfoEndpoint"]?.string,
      revocation: json["revocationEndpoint"]?.string,
      endSession: json["endSessionEndpoint"]?.string,
      introspection: json["introspectionEndpoint"]?.string,
      pushedAuthorizationRequest: json["pushedAuthorizationRequestEndpoint"]?.string,
      deviceAuthorization: json["deviceAuthorizationEndpoint"]?.string,
      announcesIssuerInRedirect: json["authorizationResponseIssParameterSupported"]?.bool)
  }

  var profile: ProfileMapping {
    func paths(_ name: String) -> [String]? {
      json[name]?.string.map { [$0] } ?? json[name]?.array?.compactMap { $0.string }
    }
    return ProfileMapping(
      endpoint: json["endpoint"]?.string, subject: paths("subject") ?? ["sub"],
      name: paths("name") ?? [], email: paths("email") ?? [], emailVerified: paths("emailVerified") ?? [],
      picture: paths("picture") ?? [], emailsEndpoint: json["emailsEndpoint"]?.string)
  }

  var registration: Registration {
    if let page = json["registrationUri"]?.string { return .page(page) }
    let words: [(String, Registration)] = [
      ("promptCreate", .promptCreate), ("promptRegistration", .promptRegistration),
    ]
    return words.first { ASCII.equals($0.0, text) }?.1 ?? .signIn
  }

  var choices: [RegistrationChoice] {
    (json.array ?? []).map { item in
      RegistrationChoice(
        kind: item["kind"]?.string ?? "", connection: item["connection"]?.string,
        label: item["label"]?.string ?? "", guidance: item["guidance"]?.string)
    }
  }

  var returnPage: ReturnPage {
    ReturnPage(
      appName: json["appName"]?.string, logo: json["logo"]?.string, text: json["text"]?.string,
      language: json["language"]?.string.flatMap { ReturnPage.Language(rawValue: $0) } ?? .english,
      color: json["color"]?.string, backgroundColor: json["backgroundColor"]?.string,
      link: json["link"]?.string)
  }

  var bff: BFFSettings {
    BFFSettings(
      base: json["base"]?.string ?? "",
      dangerouslyAcceptsTokenInRedirect: json["dangerouslyAcceptTokenInRedirect"]?.bool ?? false)
  }

  var app2app: App2AppSettings {
    let fields = json["fields"]
    return App2AppSettings(
      initURI: json["initUri"]?.string ?? "",
      completeURI: json["completeUri"]?.string ?? "",
      sessionIDField: fields?["sessionId"]?.string ?? "sessionId",
      linkField: fields?["link"]?.string ?? "link",
      artefactIDField: fields?["artefactId"]?.string ?? "artefactId",
      allowedLinks: (json["allowedLinks"]?.array ?? []).compactMap { $0.string },
      requiresPIN: json["requirePin"]?.bool ?? false)
  }
}
