// The URLs of a fake provider. They come from its dialect; a URL that the dialect does not have is a usual URL on the
// provider's host.

import EnrollRules
import EnrollSteps
import EnrollJSON

/// The URLs of one provider, with the placeholders of its dialect replaced.
struct ProviderURLs: Sendable {
  let issuer: String
  /// The discovery documents, each with the issuer that it names.
  let documents: [(url: String, issuer: String)]
  let authorization: String
  /// The page that ends the browser's session; nil if the provider has no such page.
  let logout: String?
  /// The page for device codes.
  let activation: String
  let endpoints: [FakeProvider.Endpoint: String]
  private let values: [String: String]

  init(_ dialect: Dialect, values given: [String: String]) {
    let values = Placeholders.samples.merging(given) { $1 }
    func filled(_ text: String) -> String { Placeholders.filled(text, values) }
    let issuer = filled(dialect.issuer)
    let trimmed = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    let host =
      filled(dialect.urls["token"] ?? dialect.discovery.url ?? dialect.issuer)
      .split(separator: "/").dropFirst().first ?? ""
    let base = dialect.urls.isEmpty && dialect.discovery.url == nil ? trimmed : "https://\(host)"

    let path = dialect.discovery.path ?? ProviderMetadata.wellKnownPath
    let own = (dialect.discovery.url ?? dialect.issuer + path)
      // An issuer may end with a slash.
      .replacing("//.well-known", with: "/.well-known")
    var documents = [(url: filled(own), issuer: filled(dialect.discovery.issuer ?? dialect.issuer))]
    if dialect.discovery.isAtIssuer {
      documents.append((issuer + ProviderMetadata.wellKnownPath, documents[0].issuer))
    }
    if let other = dialect.idToken.issuer, !dialect.idToken.hasTenant {
      documents.append((filled(other) + ProviderMetadata.wellKnownPath, filled(other)))
    }

    var endpoints = [FakeProvider.Endpoint.discovery: documents[0].url]
    endpoints[.emails] = dialect.userinfo.emails
    for (endpoint, role, path) in [
      (FakeProvider.Endpoint.token, "token", "/token"), (.keys, "jwks", "/keys"),
      (.userinfo, "userinfo", "/userinfo"), (.revocation, "revocation", "/revoke"),
      (.deviceAuthorization, "device", "/device"), (.pushed, "par", "/par"),
      (.introspection, "introspection", "/introspect"), (.passwordless, "", "/passwordless/start"),
      (.registrationCheck, "", "/check"), (.profileUpdate, "", "/profile"), (.errorReport, "", "/errors"),
    ] { endpoints[endpoint] = dialect.urls[role].map(filled) ?? base + path }

    self.issuer = issuer
    self.documents = documents
    self.endpoints = endpoints
    self.values = values
    authorization = filled(dialect.urls["authorization"] ?? base + "/authorize")
    activation = base + "/activate"
    logout =
      switch dialect.logout.style {
      case .none: nil
      case .auth0: base + "/v2/logout"
      case .rp, .cognito: filled(dialect.discovery.extra["end_session_endpoint"]?.string ?? base + "/logout")
      }
  }

  func filled(_ text: String) -> String { Placeholders.filled(text, values) }
}

/// The placeholders `<…>` in URLs.
enum Placeholders {
  static let samples = [
    "host": "login.example.org", "fs": "fs.example.org", "realm": "acme", "r": "alpha", "slug": "app",
    "tenant": FakeProvider.tenant, "tenant-guid": FakeProvider.tenant, "guid": FakeProvider.tenant,
    "env": FakeProvider.tenant, "org": "dev-1", "name": "acme", "t": "acme", "policy": "b2c_1_signin",
    "region": "eu-central-1", "pool": "eu-central-1_Abc123", "sub": "acme", "instance": "acme.zitadel.cloud",
    "domain": "acme.auth.eu-central-1.amazoncognito.com", "mydomain": "acme",
  ]

  /// Replaces the placeholders. A placeholder without a value stays.
  static func filled(_ text: String, _ values: [String: String]) -> String {
    guard text.contains("<") else { return text }
    return values.reduce(text) { $0.replacing("<\($1.key)>", with: $1.value) }
  }

  /// Whether `text` matches `pattern`, in which `<…>` is any text that is not empty.
  static func fits(_ text: Substring, _ pattern: Substring) -> Bool {
    guard let open = pattern.firstIndex(of: "<"), let close = pattern[open...].firstIndex(of: ">") else {
      return text == pattern
    }
    guard text.hasPrefix(pattern[..<open]) else { return false }
    let rest = text.dropFirst(pattern[..<open].count)
    let after = pattern[pattern.index(after: close)...]
    return rest.indices.dropFirst().contains { fits(rest[$0...], after) }
      || (!rest.isEmpty && after.isEmpty)
  }
}
