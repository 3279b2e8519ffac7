// The URLs of a configuration, each kind with its own rule: the issuer (R18, R19), redirects (R2-R4), endpoints (R19),
// links that may come back.

enum ConfiguredURL {
  /// https, or http to loopback where that is switched on; no query, no fragment (OpenID Connect Discovery §3).
  static func issuer(_ text: String, key: String, allowsLoopbackHTTP: Bool) throws(EnrollError) {
    let url = try server(text, key: key, allowsLoopbackHTTP: allowsLoopbackHTTP)
    guard url.query == nil else { throw refusal(key, "an issuer has no query") }
    guard !text.utf8.hasSuffix(ProviderMetadata.wellKnownPath.utf8) else {
      throw refusal(key, "expected the issuer, got its discovery document: leave out /.well-known/…")
    }
  }

  /// An address of a server that we send requests to.
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

  /// Where the browser comes back to: claimed https, a private scheme, with an authority where the provider dictates
  /// one, or http to a loopback address or localhost (R3, R4). Written as browsers write it, since it is compared byte
  /// by byte (R5).
  /// - Parameter configured: the URL whose scheme may be without a dot (R2).
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

  /// Links that may have an authority: `fallbackUri`, links of another app.
  /// - Parameter allowsLoopbackHTTP: for another app that a page on this machine plays (R19).
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

  /// A browser writes hosts in lower case, leaves the scheme's own port out, and puts a slash after a host.
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

  /// A redirect may have a query of its own (RFC 6749 §3.1.2), but none of the answer's names in it (R8).
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
