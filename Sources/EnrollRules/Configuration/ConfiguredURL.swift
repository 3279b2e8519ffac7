// The URLs of a configuration, with a rule for each kind: the issuer (R18, R19), redirect URIs (R2-R4), endpoints
// (R19), and links that the app receives or opens.

enum ConfiguredURL {
  /// Checks an issuer: https, or http to loopback if the configuration allows it; no query and no fragment (OpenID
  /// Connect Discovery §3).
  static func issuer(_ text: String, allowsLoopbackHTTP: Bool) -> ConfigurationFault? {
    fault { () throws(ConfigurationFault) in
      let url = try server(text, allowsLoopbackHTTP: allowsLoopbackHTTP)
      guard url.query == nil else { throw ConfigurationFault("an issuer has no query") }
      guard !text.utf8.hasSuffix(Issuer.discoveryPath.utf8) else {
        throw ConfigurationFault(
          "expected the issuer, got its discovery document: leave out /.well-known/…")
      }
    }
  }

  /// Checks the URL of a server to which EnrollKit sends requests.
  static func endpoint(_ text: String, allowsLoopbackHTTP: Bool) -> ConfigurationFault? {
    fault { () throws(ConfigurationFault) in
      _ = try server(text, allowsLoopbackHTTP: allowsLoopbackHTTP)
    }
  }

  /// The fault of a server's URL; nil if the URL is absent or valid.
  @inline(never)
  static func endpoint(_ text: String?, of configuration: Configuration) -> ConfigurationFault? {
    text.flatMap { endpoint($0, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP) }
  }

  private static func fault(_ check: () throws(ConfigurationFault) -> Void) -> ConfigurationFault? {
    do throws(ConfigurationFault) { try check() } catch { return error }
    return nil
  }

  private static func server(
    _ text: String, allowsLoopbackHTTP: Bool
  ) throws(ConfigurationFault) -> StrictURL {
    let url = try parse(text, isServer: true)
    switch url.kind {
    case .https: break
    case .loopbackHTTP:
      guard allowsLoopbackHTTP else {
        throw ConfigurationFault("http to loopback needs \(key: "allowLoopbackHTTP")")
      }
    case .privateScheme: throw ConfigurationFault("expected https, got a private scheme")
    }
    return url
  }

  /// Checks a redirect URI: claimed https; a private scheme, with an authority if the provider requires one; or http to
  /// a loopback address or localhost (R3, R4). It must be spelt as browsers spell it, because it is compared byte by
  /// byte (R5).
  /// - Parameter configuration: its redirect URI may have a scheme without a dot, and other redirect URIs may have
  ///   that scheme, too (R2).
  static func redirect(_ text: String?, of configuration: Configuration) -> ConfigurationFault? {
    guard let text else { return nil }
    return fault { () throws(ConfigurationFault) in
      let url = try parse(text, configured: configuration.redirectURI)
      switch url.kind {
      case .https, .privateScheme: break
      case .loopbackHTTP:
        let host = url.hostText ?? ""
        guard ["127.0.0.1", "[::1]", "localhost"].contains(where: { ASCII.equals(host, $0) }) else {
          throw ConfigurationFault(
            "a loopback redirect must be to 127.0.0.1, [::1] or localhost, not to another address")
        }
      }
      try browserSpelling(url)
      try noAnswerParameters(url)
    }
  }

  /// Checks a link that may have an authority: `fallbackUri`, or a link of another app.
  /// - Parameter allowsLoopbackHTTP: whether a page on this machine may take the place of the other app (R19).
  static func link(_ text: String, allowsLoopbackHTTP: Bool = false) -> ConfigurationFault? {
    fault { () throws(ConfigurationFault) in
      let url = try parse(text)
      guard url.kind != .loopbackHTTP || allowsLoopbackHTTP else {
        throw ConfigurationFault("expected a claimed https or private-scheme link")
      }
      try browserSpelling(url)
    }
  }

  private static func parse(
    _ text: String, configured: String? = nil, isServer: Bool = false
  ) throws(ConfigurationFault) -> StrictURL {
    let url: StrictURL
    do throws(StrictURL.Refusal) {
      url = try StrictURL(text, configured: configured)
    } catch {
      throw ConfigurationFault("\(isServer ? error.serverText : error.text)")
    }
    guard !url.hadFragment else { throw ConfigurationFault("a fragment is not allowed") }
    return url
  }

  /// Refuses a URL that browsers would spell differently. Browsers write hosts in lower case, leave out the scheme's
  /// default port, and put a slash after a host.
  private static func browserSpelling(_ url: StrictURL) throws(ConfigurationFault) {
    if let host = url.host {
      guard url.bytes[host].allSatisfy({ ASCII.lowercased($0) == $0 }) else {
        throw ConfigurationFault("the host must be in lower case, as browsers write it")
      }
    }
    guard url.kind == .privateScheme || !url.path.isEmpty else {
      throw ConfigurationFault("a path is needed, at least / after the host")
    }
    guard !(url.kind == .https && url.port == 443), !(url.kind == .loopbackHTTP && url.port == 80) else {
      throw ConfigurationFault("the scheme's own port must be left out, as browsers do")
    }
  }

  /// Refuses a redirect URI whose query has a parameter of a response (R8). Other queries are allowed (RFC 6749
  /// §3.1.2).
  private static func noAnswerParameters(_ url: StrictURL) throws(ConfigurationFault) {
    guard let query = url.query else { return }
    for name in QueryParameter.names(of: url.bytes, query)
    where CustomParameters.contains(name, in: ["code", "state", "error", "iss"]) {
      throw ConfigurationFault("its query has \(name), which a provider's redirect uses")
    }
  }
}

extension String.UTF8View {
  fileprivate func hasSuffix(_ suffix: String.UTF8View) -> Bool {
    count >= suffix.count && dropFirst(count - suffix.count).elementsEqual(suffix)
  }
}
