// The URLs of a configuration, with a rule for each kind: the issuer (R18, R19), redirect URIs (R2-R4), endpoints
// (R19), and links that the app receives or opens.

enum ConfiguredURL {
  /// https, or http to loopback if the configuration allows it; without query and fragment (OpenID Connect Discovery
  /// §3).
  static func issuer(_ text: String, key: String, allowsLoopbackHTTP: Bool) throws(EnrollError) {
    let url = try server(text, key: key, allowsLoopbackHTTP: allowsLoopbackHTTP)
    guard url.query == nil else { throw refusal(key, "an issuer has no query") }
    guard !text.utf8.hasSuffix(Issuer.discoveryPath.utf8) else {
      throw refusal(key, "expected the issuer, got its discovery document: leave out /.well-known/…")
    }
  }

  /// The URL of a server to which EnrollKit sends requests.
  static func endpoint(_ text: String, key: String, allowsLoopbackHTTP: Bool) throws(EnrollError) {
    _ = try server(text, key: key, allowsLoopbackHTTP: allowsLoopbackHTTP)
  }

  private static func server(
    _ text: String, key: String, allowsLoopbackHTTP: Bool
  ) throws(EnrollError) -> StrictURL {
    let url = try parse(text, key: key)
    switch url.kind {
    case .https: break
    case .loopbackHTTP:
      guard allowsLoopbackHTTP else { throw refusal(key, "http to loopback needs allowLoopbackHTTP") }
    case .privateScheme: throw refusal(key, "expected https, got a private scheme")
    }
    return url
  }

  /// A redirect URI: claimed https; a private scheme, with an authority if the provider requires one; or http to a
  /// loopback address or localhost (R3, R4). Spelt as browsers spell it, because it is compared byte by byte (R5).
  /// - Parameter configured: the URL whose scheme may have no dot (R2).
  static func redirect(_ text: String, configured: String, key: String) throws(EnrollError) {
    let url = try parse(text, configured: configured, key: key)
    switch url.kind {
    case .https, .privateScheme: break
    case .loopbackHTTP:
      let host = url.hostText ?? ""
      guard ["127.0.0.1", "[::1]", "localhost"].contains(where: { ASCII.equals(host, $0) }) else {
        throw refusal(
          key, "a loopback redirect must be to 127.0.0.1, [::1] or localhost, not to another address")
      }
    }
    try browserSpelling(url, key: key)
    try noAnswerParameters(url, key: key)
  }

  /// A link that may have an authority: `fallbackUri`, or a link of another app.
  /// - Parameter allowsLoopbackHTTP: whether a page on this machine may stand in for the other app (R19).
  static func link(_ text: String, key: String, allowsLoopbackHTTP: Bool = false) throws(EnrollError) {
    let url = try parse(text, key: key)
    guard url.kind != .loopbackHTTP || allowsLoopbackHTTP else {
      throw refusal(key, "expected a claimed https or private-scheme link")
    }
    try browserSpelling(url, key: key)
  }

  private static func parse(
    _ text: String, configured: String? = nil, key: String
  ) throws(EnrollError) -> StrictURL {
    let url: StrictURL
    do throws(StrictURL.Refusal) {
      url = try StrictURL(text, configured: configured)
    } catch {
      throw refusal(key, error.text)
    }
    guard !url.hadFragment else { throw refusal(key, "a fragment is not allowed") }
    return url
  }

  /// Browsers write hosts in lower case, leave out the scheme's default port, and put a slash after a host.
  private static func browserSpelling(_ url: StrictURL, key: String) throws(EnrollError) {
    if let host = url.host {
      guard url.bytes[host].allSatisfy({ ASCII.lowercased($0) == $0 }) else {
        throw refusal(key, "the host must be in lower case, as browsers write it")
      }
    }
    guard url.kind == .privateScheme || !url.path.isEmpty else {
      throw refusal(key, "a path is needed, at least / after the host")
    }
    guard !(url.kind == .https && url.port == 443), !(url.kind == .loopbackHTTP && url.port == 80) else {
      throw refusal(key, "the scheme's own port must be left out, as browsers do")
    }
  }

  /// A redirect URI may have a query (RFC 6749 §3.1.2), but without the parameters of a response (R8).
  private static func noAnswerParameters(_ url: StrictURL, key: String) throws(EnrollError) {
    guard let query = url.query else { return }
    for name in QueryParameter.names(of: url.bytes, query)
    where CustomParameters.contains(name, in: ["code", "state", "error", "iss"]) {
      throw refusal(key, "its query has \(name), which a provider's redirect uses")
    }
  }

  private static func refusal(_ key: String, _ text: String) -> EnrollError {
    EnrollError(.configuration, "\(key): \(text)", field: key)
  }
}

extension String.UTF8View {
  fileprivate func hasSuffix(_ suffix: String.UTF8View) -> Bool {
    count >= suffix.count && dropFirst(count - suffix.count).elementsEqual(suffix)
  }
}
