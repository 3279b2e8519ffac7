// The gateway's configuration: one JSON object. Unknown keys, wrong types and invalid URLs are refused at the start; the error
// names the key as it was written.

public import EnrollRules
public import EnrollJSON

public struct GatewaySettings: Sendable {
  /// The gateway's origin as browsers see it: `https://id.example`, without a path.
  public let publicURL: String
  /// The address (`host:port`) on which the gateway listens for HTTP; a load balancer terminates TLS.
  public let listen: String
  /// The loopback address (`host:port`) for the metrics; nil if the gateway serves no metrics.
  public let metrics: String?
  /// The addresses of load balancers whose `X-Forwarded-For` is trusted.
  public let trustedProxies: [String]
  /// The database: `sqlite:PATH`, or a `postgresql:` connection string for libpq.
  public let database: String
  public let databaseConnections: Int
  /// The path of the key file.
  public let keyFile: String
  public let providers: [Provider]
  public let apps: [RegisteredApp]
  /// The URLs to which a browser may return after the sign-in, compared exactly.
  public let returnTo: [String]
  /// The audiences of access tokens: the identifier of each API.
  public let apis: [String]
  public let idleSeconds: Int64
  public let absoluteSeconds: Int64
  /// The rate limits per client and per user.
  public let limits: LimitRules
  /// How many days the audit keeps an entry.
  public let auditDays: Int64
  /// The settings for mail; nil if no mail is sent.
  public let mail: MailSettings?
  /// The rules of registration by e-mail; nil if users cannot register by e-mail.
  public let registration: RegistrationSettings?
  /// The directory of users who register by e-mail; nil for the gateway's own tables.
  public let directory: DirectorySettings?
  /// The theme of the pages; nil for the default theme.
  public let theme: JSONObject?
  /// Files with changed texts, or with the texts of additional languages.
  public let textFiles: [String]

  public struct Provider: Sendable {
    public let name: String
    public let label: String
    public let configuration: Configuration
    /// The provider's requirements beyond the specifications.
    public let dialect: ProviderDialect
  }

  private static let connectionRange: ClosedRange<Int64> = 1...256
  private static let idleRange: ClosedRange<Int64> = 60...31_536_000
  private static let absoluteRange: ClosedRange<Int64> = 60...63_072_000
  private static let auditRange: ClosedRange<Int64> = AuditRetention.shortestDays...3_650

  /// The top-level keys, without the maps `providers` and `apps`.
  public static var keys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "publicUrl", .url, required: true,
        "The gateway's origin as browsers see it, such as https://id.example."),
      ConfigurationKey(
        "listen", .text, "The address and port on which to listen for HTTP. 127.0.0.1:8080 by default."),
      ConfigurationKey(
        "metrics", .text,
        "A loopback address and a port, such as 127.0.0.1:9464, where Prometheus reads /metrics. Off by default."
      ),
      ConfigurationKey(
        "trustedProxies", .list(.text),
        "The addresses of load balancers. Only their X-Forwarded-For header is trusted."),
      ConfigurationKey(
        "database", .text, required: true,
        "sqlite:PATH for one machine, or a postgresql:// URL for several. A relative path is relative to the folder of this file."
      ),
      ConfigurationKey(
        "databaseConnections", .integer(connectionRange), "Connections to the database. 8 by default."),
      ConfigurationKey(
        "keys", .text, required: true,
        "The path of the key file, which enroll-gateway keys add creates. A relative path is relative to the folder of this file."
      ),
      ConfigurationKey(
        "returnTo", .list(.url),
        "The URLs to which a browser may return after the sign-in. Each must match exactly."),
      ConfigurationKey(
        "apis", .list(.text),
        "The audiences of access tokens: the identifier of each API behind the gateway, such as https://api.example."
      ),
      ConfigurationKey(
        "session",
        .object([
          ConfigurationKey(
            "idleSeconds", .integer(idleRange),
            "A session ends this many seconds after its last use. 2592000 (30 days) by default."),
          ConfigurationKey(
            "absoluteSeconds", .integer(absoluteRange),
            "A session ends this many seconds after the sign-in. 15552000 (180 days) by default."),
        ]), "How long sessions last."),
      ConfigurationKey("mail", .object(MailSettings.keys), "The mail server. Without it no e-mail is sent."),
      ConfigurationKey(
        "registration", .object(RegistrationSettings.keys),
        "Users can register and sign in with an e-mail address. Requires mail. An empty object is enough."),
      ConfigurationKey(
        "limits", .object(LimitRules.keys),
        "How many requests are accepted; a request over the limit gets 429. A client is an IPv4 address or an IPv6 /64 network."
      ),
      ConfigurationKey(
        "auditDays", .integer(auditRange), "How many days the audit keeps an entry. 400 by default."),
      ConfigurationKey(
        "directory", .object(DirectorySettings.keys),
        "Where users who register by e-mail are stored. The gateway's own tables by default."),
      ConfigurationKey(
        "textFiles", .list(.text), "Files with changed texts, or with the texts of additional languages."),
      ConfigurationKey(
        "allowLoopbackHttp", .boolean,
        "For development: publicUrl and providers may use http on this machine. False by default."),
    ]
  }

  static let appKeys: [ConfigurationKey] = [
    ConfigurationKey("title", .text, required: true, "The app's name on the pages."),
    ConfigurationKey(
      "redirectUris", .list(.text), required: true,
      "The redirect URIs of the app. The first one is the default; a loopback address matches any port."),
    ConfigurationKey(
      "android",
      .object([
        ConfigurationKey("package", .text, required: true, "The package name."),
        ConfigurationKey(
          "sha256", .list(.text), required: true, "SHA-256 fingerprints of the signing certificates."),
      ]), "The Android app for /.well-known/assetlinks.json."),
    ConfigurationKey(
      "fallbackUri", .text,
      "Where the browser goes if it arrived with the app's clientId and there is no other URL to return to."
    ),
    ConfigurationKey(
      "appleAppIds", .list(.text), "App ids (TEAMID.bundle.id) for apple-app-site-association."),
    ConfigurationKey(
      "continuePage", .boolean,
      "Show a page with a link to the app instead of a redirect. False by default."),
    ConfigurationKey(
      "dangerouslySendTokenInRedirect", .boolean,
      "Send the session token in the redirect instead of a code. Other programs on the device can read it. False by default."
    ),
  ]

  /// Reads the configuration.
  /// - Throws: `.configuration`; `field` is the path of the invalid key (`apps.sample.redirectUris`).
  public init(json: JSON) throws(EnrollError) {
    guard var top = json.object else {
      throw EnrollError(.configuration, "configuration: expected an object, got \(json.kind)")
    }
    let maps = (providers: top["providers"], apps: top["apps"], theme: top["theme"])
    for name in ["providers", "apps", "theme"] { top[name] = nil }
    let reader = try ConfigurationReader(.object(top), keys: Self.keys)
    let isDevelopment = reader.boolean("allowLoopbackHttp") ?? false
    publicURL = try Self.origin(reader.text("publicUrl") ?? "", allowsLoopbackHTTP: isDevelopment)
    listen = reader.text("listen") ?? "127.0.0.1:8080"
    metrics = reader.text("metrics")
    trustedProxies = reader.texts("trustedProxies") ?? []
    database = reader.text("database") ?? ""
    databaseConnections = Int(
      try Self.number(
        reader.value("databaseConnections"), in: Self.connectionRange, "databaseConnections", otherwise: 8))
    keyFile = reader.text("keys") ?? ""
    returnTo = reader.texts("returnTo") ?? []
    for address in returnTo {
      guard let url = try? StrictURL(address), url.kind != .privateScheme, !url.hadFragment,
        url.kind == .https || isDevelopment
      else {
        throw EnrollError(
          .configuration, "returnTo: expected https addresses without fragments", field: "returnTo")
      }
    }
    apis = reader.texts("apis") ?? []
    guard apis.count <= 16, apis.allSatisfy({ (1...256).contains($0.utf8.count) }) else {
      throw EnrollError(
        .configuration, "apis: expected at most 16 names of 1 to 256 bytes", field: "apis")
    }
    let session = reader.value("session")
    idleSeconds = try Self.number(
      session?["idleSeconds"], in: Self.idleRange, "session.idleSeconds", otherwise: 30 * 86_400)
    absoluteSeconds = try Self.number(
      session?["absoluteSeconds"], in: Self.absoluteRange, "session.absoluteSeconds", otherwise: 180 * 86_400)
    limits = try LimitRules(json: reader.value("limits"))
    auditDays = try Self.number(
      reader.value("auditDays"), in: Self.auditRange, "auditDays", otherwise: AuditRetention.defaultDays)
    mail = if let json = reader.value("mail") { try MailSettings(json: json) } else { nil }
    registration =
      if let json = reader.value("registration") { try RegistrationSettings(json: json) } else { nil }
    guard registration == nil || mail != nil else {
      throw EnrollError(
        .configuration, "registration: expected a mail server in mail: links are sent by mail",
        field: "registration")
    }
    providers = try Self.providers(
      maps.providers, publicURL: publicURL, isDevelopment: isDevelopment, isOptional: registration != nil)
    guard
      registration == nil
        || !providers.contains(where: { ASCII.equals($0.name, RegistrationSettings.providerName) })
    else {
      throw EnrollError(
        .configuration,
        "providers.\(RegistrationSettings.providerName): registration uses this name; choose another one",
        field: "providers.\(RegistrationSettings.providerName)")
    }
    directory =
      if let json = reader.value("directory") {
        try DirectorySettings(json: json, providers: providers, isDevelopment: isDevelopment)
      } else { nil }
    apps = try Self.apps(maps.apps)
    theme = try Self.theme(maps.theme)
    textFiles = reader.texts("textFiles") ?? []
  }
}

extension GatewaySettings {
  private static func origin(_ text: String, allowsLoopbackHTTP: Bool) throws(EnrollError) -> String {
    guard let url = try? StrictURL(text),
      url.kind == .https || url.kind == .loopbackHTTP && allowsLoopbackHTTP,
      ASCII.equals(url.shownOrigin, text), url.query == nil
    else {
      throw EnrollError(
        .configuration,
        "publicUrl: expected an https origin without a path, such as https://id.example; http on this machine needs allowLoopbackHttp",
        field: "publicUrl")
    }
    // Browsers leave the scheme's default port out of an origin. The `Origin` of requests is compared with the
    // configured origin, so the configured origin must not name that port either.
    guard url.port != (url.kind == .https ? 443 : 80),
      !text.utf8.contains(where: { (0x41...0x5A).contains($0) })
    else {
      throw EnrollError(
        .configuration,
        "publicUrl: expected the host in lower case and no default port, as browsers write it, got \(text)",
        field: "publicUrl")
    }
    return text
  }

  private static func theme(_ json: JSON?) throws(EnrollError) -> JSONObject? {
    guard let json else { return nil }
    guard let object = json.object else {
      throw EnrollError(.configuration, "theme: expected an object, got \(json.kind)", field: "theme")
    }
    return object
  }

  private static func number(
    _ value: JSON?, in range: ClosedRange<Int64>, _ field: String, otherwise: Int64
  ) throws(EnrollError) -> Int64 {
    let number = value?.integer ?? otherwise
    guard range.contains(number) else {
      throw EnrollError(
        .configuration, "\(field): expected \(range.lowerBound) to \(range.upperBound), got \(number)",
        field: field)
    }
    return number
  }

  /// Whether the text is a valid name: it must fit into one segment of a path.
  static func isName(_ text: String) -> Bool { isName(text.utf8[...]) }

  static func isName(_ text: Substring.UTF8View) -> Bool {
    (1...64).contains(text.count)
      && text.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2D || $0 == 0x5F }
  }

  private static func members(of json: JSON?, _ key: String) throws(EnrollError) -> [JSONObject.Member] {
    guard let json else { return [] }
    guard let object = json.object, object.members.allSatisfy({ isName($0.key) }) else {
      throw EnrollError(
        .configuration, "\(key): expected an object whose keys are names of 1 to 64 letters, digits, - or _",
        field: key)
    }
    return object.members
  }

  private static func providers(
    _ json: JSON?, publicURL: String, isDevelopment: Bool, isOptional: Bool
  ) throws(EnrollError) -> [Provider] {
    var providers: [Provider] = []
    for member in try members(of: json, "providers") {
      providers.append(
        try provider(member.key, member.value, publicURL: publicURL, isDevelopment: isDevelopment))
    }
    guard !providers.isEmpty || isOptional else {
      throw EnrollError(
        .configuration, "providers: expected at least one provider to sign in with", field: "providers")
    }
    return providers
  }

  /// The gateway's redirect URI at a provider.
  public static func callback(publicURL: String, provider: String) -> String {
    "\(publicURL)/v1/auth/\(provider)/callback"
  }

  private static func apps(_ json: JSON?) throws(EnrollError) -> [RegisteredApp] {
    var apps: [RegisteredApp] = []
    for member in try members(of: json, "apps") {
      let path = "apps.\(member.key)"
      let reader = try ConfigurationReader(member.value, keys: appKeys, path: path)
      let android = reader.value("android").map { value in
        RegisteredApp.Android(
          package: value["package"]?.string ?? "",
          fingerprints: value["sha256"]?.array?.compactMap { $0.string } ?? [])
      }
      let app = RegisteredApp(
        id: member.key, title: reader.text("title") ?? member.key,
        redirectURIs: reader.texts("redirectUris") ?? [], android: android,
        appleAppIDs: reader.texts("appleAppIds") ?? [],
        showsContinuePage: reader.boolean("continuePage") ?? false,
        sendsTokenInRedirect: reader.boolean("dangerouslySendTokenInRedirect") ?? false,
        fallbackURI: reader.text("fallbackUri"))
      do throws(EnrollError) { try app.check() } catch {
        throw EnrollError(
          .configuration, "\(path).\(error.field ?? ""): \(error.message)",
          field: "\(path).\(error.field ?? "")")
      }
      apps.append(app)
    }
    return apps
  }
}
