// One provider of the configuration: EnrollKit's provider keys, and keys that only a server has. A key that the provider cannot
// use is refused, so that nobody relies on a check that does not happen.

import EnrollRules
import EnrollCrypto
import EnrollJSON

extension GatewaySettings {
  /// The keys that a provider has in addition to the keys of an EnrollKit configuration. Each key that ends with `File`
  /// is the path of a file with the value.
  static let providerKeys: [ConfigurationKey] = [
    ConfigurationKey(
      "label", .text, "The provider's display name. The preset's or the provider's name by default."),
    ConfigurationKey(
      "hostedDomain", .text,
      "For Google: only users of this Workspace domain may sign in; * for any domain. The id_token's hd is checked."
    ),
    ConfigurationKey("appleTeamId", .text, "For Apple: the id of the developer team."),
    ConfigurationKey("appleKeyId", .text, "For Apple: the id of the key for Sign in with Apple."),
    ConfigurationKey(
      "applePrivateKeyFile", .text, "For Apple: the path of that key's .p8 file. Only its owner may read it."),
    ConfigurationKey(
      "appleNotificationAudiences", .list(.text),
      "For Apple: bundle ids of the same app group whose notifications are also accepted, besides those for clientId."
    ),
    ConfigurationKey(
      "graphVersion", .text, "For Facebook: the version of the Graph API. \(Self.graphVersion) by default."),
  ]

  static let graphVersion = "v22.0"

  /// Keys whose values come from files: the configuration names the file in the key with `File` appended. The program reads the
  /// files.
  public static let providerSecrets = ["clientSecret", "applePrivateKey", "clientKey"]

  /// Whether only the owner should be able to read the key's file.
  public static func isPrivateKey(_ key: String) -> Bool {
    ASCII.equals(key, "applePrivateKey") || ASCII.equals(key, "clientKey")
  }

  /// Reads one provider of the configuration.
  /// - Throws: `.configuration` with the path of the key as it was written.
  static func provider(
    _ name: String, _ json: JSON, publicURL: String, isDevelopment: Bool
  ) throws(EnrollError) -> Provider {
    let path = "providers.\(name)"
    guard var object = json.object else {
      throw EnrollError(.configuration, "\(path): expected an object, got \(json.kind)", field: path)
    }
    for key in ["redirectUri", "confirmation", "bff", "app2app", "registrationCheckUri"]
    where object[key] != nil {
      throw EnrollError(
        .configuration, "\(path).\(key): the gateway sets this itself; leave it out", field: "\(path).\(key)")
    }
    do throws(EnrollError) {
      let own = try ServerKeys(takingFrom: &object)
      object["redirectUri"] = .string(callback(publicURL: publicURL, provider: name))
      object["confirmation"] = .bool(false)
      if isDevelopment { object["allowLoopbackHTTP"] = .bool(true) }
      own.complete(&object)
      let configuration = try Configuration(ofServer: .object(object))
      let preset = configuration.preset.flatMap { ProviderPreset.named($0) }?.name
      return Provider(
        name: name, label: own.label ?? preset ?? name, configuration: configuration,
        dialect: try own.dialect(configuration))
    } catch {
      throw EnrollError(
        .configuration, "\(path).\(error.message)", field: error.field.map { "\(path).\($0)" } ?? path)
    }
  }
}

/// The values of the additional keys of a provider: the keys that an EnrollKit configuration does not have.
private struct ServerKeys {
  var label: String?
  private var hostedDomain: String?
  private var team: String?
  private var appleKeyID: String?
  private var appleKey: String?
  private var audiences: [String] = []
  private var graphVersion: String?
  private var clientKey: String?
  private var clientKeyID: String?
  private var clientKeyAlgorithm: SignatureAlgorithm?
  private var assertionAudience: String?

  init(takingFrom object: inout JSONObject) throws(EnrollError) {
    label = try Self.text("label", &object)
    hostedDomain = try Self.text("hostedDomain", &object)
    team = try Self.text("appleTeamId", &object)
    appleKeyID = try Self.text("appleKeyId", &object)
    appleKey = try Self.text("applePrivateKey", &object)
    graphVersion = try Self.text("graphVersion", &object)
    clientKey = try Self.text("clientKey", &object)
    clientKeyID = try Self.text("clientKeyId", &object)
    if let name = try Self.text("clientKeyAlgorithm", &object) {
      guard let algorithm = SignatureAlgorithm(name: name) else {
        throw Self.refusal(
          "clientKeyAlgorithm",
          "expected one of \(SignatureAlgorithm.allCases.map { $0.rawValue }.joined(separator: ", ")), got another"
        )
      }
      clientKeyAlgorithm = algorithm
    }
    assertionAudience = try Self.text("clientAssertionAudience", &object)
    guard let list = object["appleNotificationAudiences"] else { return }
    let texts = list.array?.compactMap { $0.string } ?? []
    guard !texts.isEmpty, texts.count == list.array?.count else {
      throw Self.refusal("appleNotificationAudiences", "expected a list of bundle ids")
    }
    audiences = texts
    object["appleNotificationAudiences"] = nil
  }

  private static func text(_ key: String, _ object: inout JSONObject) throws(EnrollError) -> String? {
    guard let value = object[key] else { return nil }
    guard let text = value.string, !text.utf8.isEmpty else {
      throw refusal(key, "expected a string that is not empty, got \(value.kind)")
    }
    object[key] = nil
    return text
  }

  /// Adds values that a server needs and that the configuration does not have. The presets lack these values, because
  /// they are written for apps.
  func complete(_ object: inout JSONObject) {
    let preset = object["provider"]?.string ?? ""
    switch preset {
    case "apple":
      // Without these scopes Apple sends no name and no e-mail address.
      if object["scopes"] == nil { object["scopes"] = .string("openid name email") }
    case "facebook":
      let version = graphVersion ?? GatewaySettings.graphVersion
      if object["scopes"] == nil { object["scopes"] = .string("email public_profile") }
      Self.add(
        [
          ("authorizationEndpoint", "https://www.facebook.com/\(version)/dialog/oauth"),
          ("tokenEndpoint", "https://graph.facebook.com/\(version)/oauth/access_token"),
        ], to: "endpoints", of: &object)
      Self.add(
        [("endpoint", "https://graph.facebook.com/\(version)/me?fields=id,name,email")], to: "profile",
        of: &object)
    default:
      if object["scopes"] == nil, object["provider"] == nil {
        object["scopes"] = .string("openid profile email")
      }
    }
  }

  private static func add(_ members: [(String, String)], to key: String, of object: inout JSONObject) {
    guard var inner = object[key].map({ $0.object }) ?? JSONObject() else { return }
    for (name, value) in members where inner[name] == nil { inner[name] = .string(value) }
    object[key] = .object(inner)
  }

  func dialect(_ configuration: Configuration) throws(EnrollError) -> ProviderDialect {
    let host = ProviderPreset.at(configuration.issuer)?.name ?? ""
    let (isGoogle, isApple) = (ASCII.equals(host, "google"), ASCII.equals(host, "apple"))
    let isFacebook = ASCII.equals(host, "facebook")
    for (key, value) in [
      ("appleTeamId", team), ("appleKeyId", appleKeyID), ("applePrivateKey", appleKey),
      ("appleNotificationAudiences", audiences.first),
    ] where value != nil && !isApple { throw Self.refusal(key, "only Apple knows it; leave it out") }
    var dialect = ProviderDialect()
    if let hostedDomain {
      guard isGoogle else { throw Self.refusal("hostedDomain", "only Google proves one; leave it out") }
      dialect.hostedDomain = try Self.domain(hostedDomain)
    }
    if let graphVersion {
      guard isFacebook else { throw Self.refusal("graphVersion", "only Facebook has one; leave it out") }
      try Self.checkVersion(graphVersion)
    }
    if isFacebook {
      guard configuration.clientSecret != nil else {
        throw Self.refusal("clientSecret", "Facebook needs the app secret; write clientSecretFile")
      }
      dialect.provesAppSecret = true
      dialect.sendsSignedRequests = true
    }
    if isApple { try configureApple(&dialect, configuration) }
    dialect.supportsReauthentication =
      configuration.scopes.contains { ASCII.equals($0, "openid") }
      && !Self.withoutPromptLogin.contains { ASCII.equals($0, host) }
    if !isApple { dialect.clientKey = try clientKey(configuration) }
    return dialect
  }

  /// Providers that do not support `prompt=login`.
  private static let withoutPromptLogin = ["google", "apple", "facebook", "github"]

  private func configureApple(
    _ dialect: inout ProviderDialect, _ configuration: Configuration
  ) throws(EnrollError) {
    guard let team, let appleKeyID, let appleKey else {
      throw Self.refusal(
        team == nil ? "appleTeamId" : appleKeyID == nil ? "appleKeyId" : "applePrivateKeyFile",
        "Apple needs appleTeamId, appleKeyId and applePrivateKeyFile: the gateway makes the client secret of them"
      )
    }
    guard configuration.clientSecret == nil else {
      throw Self.refusal("clientSecret", "the gateway makes Apple's client secret itself; leave it out")
    }
    let key = try PEMKey.read(appleKey, field: "applePrivateKeyFile")
    guard key.kind == .ec(.p256) else {
      throw Self.refusal("applePrivateKeyFile", "Apple's keys are on the curve P-256, and this one is not")
    }
    dialect.appleSecret = AppleSecret(
      team: team, clientID: configuration.clientID.text, keyID: appleKeyID, key: key)
    // If a request has the scope `name` or `email`, Apple answers only by a form post.
    dialect.answersByForm = configuration.scopes.contains {
      ASCII.equals($0, "name") || ASCII.equals($0, "email")
    }
    dialect.keepsRefreshToken = true
    dialect.notificationAudiences = [configuration.clientID.text] + audiences
  }

  private func clientKey(_ configuration: Configuration) throws(EnrollError) -> ClientKey? {
    guard let clientKey else {
      for (key, value) in [
        ("clientKeyId", clientKeyID), ("clientKeyAlgorithm", clientKeyAlgorithm?.rawValue),
        ("clientAssertionAudience", assertionAudience),
      ] where value != nil { throw Self.refusal(key, "it needs clientKeyFile") }
      return nil
    }
    guard configuration.clientSecret == nil else {
      throw Self.refusal("clientSecret", "the client proves itself with clientKeyFile; leave one of them out")
    }
    guard !configuration.issuer.isTemplate || assertionAudience != nil else {
      throw Self.refusal("clientAssertionAudience", "an issuer with {tenantid} needs it: it is no audience")
    }
    return try ClientKey(
      clientKey, id: clientKeyID, algorithm: clientKeyAlgorithm, audience: assertionAudience)
  }

  private static func domain(_ text: String) throws(EnrollError) -> String {
    if ASCII.equals(text, "*") { return text }
    guard text.utf8.count <= 253, text.utf8.contains(0x2E), text.utf8.first != 0x2E, text.utf8.last != 0x2E,
      text.utf8.allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2D || $0 == 0x2E })
    else { throw refusal("hostedDomain", "expected a domain such as example.com, or *") }
    return text
  }

  private static func checkVersion(_ text: String) throws(EnrollError) {
    let parts = text.utf8.dropFirst().split(separator: 0x2E, omittingEmptySubsequences: false)
    guard text.utf8.first == UInt8(ascii: "v"), parts.count == 2,
      parts.allSatisfy({ (1...3).contains($0.count) && $0.allSatisfy(ASCII.isDigit) })
    else { throw refusal("graphVersion", "expected a version such as \(GatewaySettings.graphVersion)") }
  }

  private static func refusal(_ key: String, _ text: String) -> EnrollError {
    EnrollError(.configuration, "\(key): \(text)", field: key)
  }
}
