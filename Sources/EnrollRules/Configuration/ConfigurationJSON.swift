// Reads a configuration from JSON, by the table of its keys.

import EnrollCrypto
public import EnrollJSON

extension Configuration {
  /// - Throws: `.configuration`; `field` is the key at fault, with its path (`endpoints.tokenEndpoint`).
  public init(json: JSON) throws(EnrollError) { try self.init(json: json, isServers: false) }

  /// The configuration of a server, which can keep a secret: providers that have no public clients are accepted, too.
  /// - Throws: as ``init(json:)``.
  package init(ofServer json: JSON) throws(EnrollError) { try self.init(json: json, isServers: true) }

  private init(json: JSON, isServers: Bool) throws(EnrollError) {
    do throws(EnrollError) {
      let reader = try ConfigurationReader(ProviderPreset.expanded(json), keys: Configuration.keys)
      for (key, other) in [("issuer", "discoveryUri"), ("redirectUri", "redirectUri")]
      where reader.value(key) ?? reader.value(other) == nil {
        throw EnrollError(
          .configuration,
          "\(key): the key is missing"
            + (reader.text("provider").map { "; the provider \($0) has no usual one" }
              ?? "; or name a provider that EnrollKit knows, in provider"),
          field: key)
      }
      let issuer = Issuer(Configuration.issuer(reader))
      let isForServersAlone = isServers && ConfigurationRules.servesNoApp(issuer) != nil
      try self.init(reader, issuer: isForServersAlone ? "https://server.invalid" : issuer.text)
      if isForServersAlone {
        self.issuer = issuer
        try ConfigurationRules.checkIssuer(self, ofServer: true)
      }
      preset = reader.text("provider")
    } catch {
      throw ConfigurationSpelling.asSpelt(error, in: json)
    }
  }

  private init(_ reader: ConfigurationReader, issuer: String) throws(EnrollError) {
    try self.init(
      issuer: issuer,
      discoveryURI: reader.value("issuer") == nil ? nil : reader.text("discoveryUri"),
      tenants: Configuration.tenants(reader),
      clientID: reader.text("clientId") ?? "",
      redirectURI: reader.text("redirectUri") ?? "",
      clientSecret: reader.text("clientSecret").map { Secret($0) },
      tokenEndpointAuthMethod: reader.text("tokenEndpointAuthMethod").flatMap {
        ClientSecretMethod(rawValue: $0)
      },
      clientKey: Configuration.clientKey(reader),
      postLogoutRedirectURI: reader.text("postLogoutRedirectUri"),
      logoutDialect: reader.text("logoutDialect").flatMap { LogoutDialect(rawValue: $0) },
      prompt: reader.text("prompt"),
      promptAfterLogout: reader.text("promptAfterLogout").flatMap { PromptAfterLogout(rawValue: $0) }
        ?? .login,
      fallbackURI: reader.text("fallbackUri"),
      scopes: reader.texts("scopes") ?? reader.text("scopes").map { Scopes.split($0) },
      appLinks: reader.texts("appLinks") ?? [],
      graceSeconds: reader.integer("grace") ?? Defaults.graceSeconds,
      transactionSeconds: reader.integer("transactionLifetime") ?? Defaults.transactionSeconds,
      emailWaitSeconds: reader.integer("emailWait") ?? Defaults.emailWaitSeconds,
      authorizeParameters: reader.fields("authorizeParameters") ?? [],
      endpoints: Configuration.endpoints(reader),
      profile: Configuration.profile(reader),
      withoutExpirySeconds: reader.integer("withoutExpiry")
        ?? (reader.text("withoutExpiry") == nil
          ? Defaults.withoutExpirySeconds : Defaults.neverExpiresSeconds),
      userAgent: reader.text("userAgent"),
      pushedRequests: reader.text("pushedRequests").flatMap { FeaturePolicy(rawValue: $0) } ?? .auto,
      dpop: reader.text("dpop").flatMap { FeaturePolicy(rawValue: $0) } ?? .never,
      idTokenAlgorithms: reader.texts("idTokenAlgorithms")?.compactMap { SignatureAlgorithm(name: $0) },
      trustedAudiences: reader.texts("trustedAudiences") ?? [],
      resource: reader.text("resource"),
      resources: reader.texts("resources") ?? [],
      resourceParameter: reader.text("resourceParameter").flatMap { ResourceParameter(rawValue: $0) }
        ?? .resource,
      registration: Configuration.registration(reader),
      activation: reader.text("activation").flatMap { Activation(rawValue: $0) } ?? .authorize,
      welcomePage: reader.text("welcomePage"),
      isNative: reader.boolean("native") ?? true,
      standInToken: reader.text("standInToken").map { Secret($0) },
      requiresConfirmation: reader.boolean("confirmation") ?? true,
      registrationCheckURI: reader.text("registrationCheckUri"),
      requireCheck: reader.boolean("requireCheck") ?? false,
      profileUpdateURI: reader.text("profileUpdateUri"),
      errorReportURI: reader.text("errorReportUri"),
      requireVerifiedEmail: reader.boolean("requireVerifiedEmail") ?? false,
      choices: Configuration.choices(reader),
      app2app: Configuration.app2app(reader),
      bff: Configuration.bff(reader),
      passwordless: reader.text("passwordless").flatMap { PasswordlessDialect(rawValue: $0) },
      connectionParameter: reader.text("connectionParameter") ?? Defaults.connectionParameter,
      returnPage: Configuration.returnPage(reader),
      allowsLoopbackHTTP: reader.boolean("allowLoopbackHTTP") ?? false,
      caFile: reader.text("caFile"))
  }
}

extension Configuration {
  /// The issuer. If the key `issuer` is absent, the issuer comes from `discoveryUri`: it is the URL without
  /// the well-known path, or the URL itself, because some SDKs call the issuer so.
  private static func issuer(_ reader: ConfigurationReader) -> String {
    if let issuer = reader.text("issuer") { return issuer }
    let text = reader.text("discoveryUri") ?? ""
    let suffix = Issuer.discoveryPath
    guard text.utf8.count > suffix.utf8.count,
      text.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    else { return text }
    return String(decoding: text.utf8.dropLast(suffix.utf8.count), as: UTF8.self)
  }

  /// An empty list is refused: it looks like no tenant, but would mean every tenant.
  private static func tenants(_ reader: ConfigurationReader) throws(EnrollError) -> [String] {
    guard let tenants = reader.texts("tenants") else { return [] }
    guard !tenants.isEmpty else {
      throw EnrollError(
        .configuration, "tenants: expected at least one GUID; leave the key out to admit every tenant",
        field: "tenants")
    }
    return tenants
  }

  private static func clientKey(_ reader: ConfigurationReader) throws(EnrollError) -> ClientKeySettings? {
    guard let file = reader.text("clientKeyFile") else {
      // A preset may set the audience of assertions, although the client has no key.
      let own = reader.text("provider") == nil ? ["clientAssertionAudience"] : []
      for key in ["clientKeyId", "clientKeyAlgorithm"] + own where reader.text(key) != nil {
        throw EnrollError(.configuration, "\(key): it needs clientKeyFile", field: key)
      }
      return nil
    }
    return ClientKeySettings(
      file: file, id: reader.text("clientKeyId"),
      algorithm: reader.text("clientKeyAlgorithm").flatMap { SignatureAlgorithm(name: $0) },
      audience: reader.text("clientAssertionAudience"))
  }

  private static func endpoints(_ reader: ConfigurationReader) -> Endpoints? {
    guard let object = reader.value("endpoints") else { return nil }
    return Endpoints(
      authorization: object["authorizationEndpoint"]?.string,
      token: object["tokenEndpoint"]?.string,
      jwks: object["jwksUri"]?.string,
      userinfo: object["userinfoEndpoint"]?.string,
      revocation: object["revocationEndpoint"]?.string,
      endSession: object["endSessionEndpoint"]?.string,
      introspection: object["introspectionEndpoint"]?.string,
      pushedAuthorizationRequest: object["pushedAuthorizationRequestEndpoint"]?.string,
      deviceAuthorization: object["deviceAuthorizationEndpoint"]?.string,
      announcesIssuerInRedirect: object["authorizationResponseIssParameterSupported"]?.bool)
  }

  private static func profile(_ reader: ConfigurationReader) -> ProfileMapping? {
    guard let object = reader.value("profile") else { return nil }
    func paths(_ name: String) -> [String]? {
      object[name]?.string.map { [$0] } ?? object[name]?.array?.compactMap { $0.string }
    }
    return ProfileMapping(
      endpoint: object["endpoint"]?.string, subject: paths("subject") ?? ["sub"],
      name: paths("name") ?? [], email: paths("email") ?? [], emailVerified: paths("emailVerified") ?? [],
      picture: paths("picture") ?? [], emailsEndpoint: object["emailsEndpoint"]?.string)
  }

  private static func registration(_ reader: ConfigurationReader) -> Registration {
    guard let value = reader.value("registration") else { return .signIn }
    if let page = value["registrationUri"]?.string { return .page(page) }
    let words: [(String, Registration)] = [
      ("promptCreate", .promptCreate), ("promptRegistration", .promptRegistration),
    ]
    return words.first { ASCII.equals($0.0, value.string ?? "") }?.1 ?? .signIn
  }

  private static func choices(_ reader: ConfigurationReader) -> [RegistrationChoice] {
    guard let items = reader.value("choices")?.array else { return [] }
    return items.map { item in
      RegistrationChoice(
        kind: item["kind"]?.string ?? "", connection: item["connection"]?.string,
        label: item["label"]?.string ?? "", guidance: item["guidance"]?.string)
    }
  }

  private static func returnPage(_ reader: ConfigurationReader) -> ReturnPage {
    guard let object = reader.value("returnPage") else { return ReturnPage() }
    return ReturnPage(
      appName: object["appName"]?.string, logo: object["logo"]?.string, text: object["text"]?.string,
      language: object["language"]?.string.flatMap { ReturnPage.Language(rawValue: $0) } ?? .english,
      color: object["color"]?.string, backgroundColor: object["backgroundColor"]?.string,
      link: object["link"]?.string)
  }

  private static func bff(_ reader: ConfigurationReader) -> BFFSettings? {
    guard let object = reader.value("bff") else { return nil }
    return BFFSettings(
      base: object["base"]?.string ?? "",
      dangerouslyAcceptsTokenInRedirect: object["dangerouslyAcceptTokenInRedirect"]?.bool ?? false)
  }

  private static func app2app(_ reader: ConfigurationReader) -> App2AppSettings? {
    guard let object = reader.value("app2app") else { return nil }
    let fields = object["fields"]
    return App2AppSettings(
      initURI: object["initUri"]?.string ?? "",
      completeURI: object["completeUri"]?.string ?? "",
      sessionIDField: fields?["sessionId"]?.string ?? "sessionId",
      linkField: fields?["link"]?.string ?? "link",
      artefactIDField: fields?["artefactId"]?.string ?? "artefactId",
      allowedLinks: (object["allowedLinks"]?.array ?? []).compactMap { $0.string },
      requiresPIN: object["requirePin"]?.bool ?? false)
  }
}
