// The configurations of a host for each known provider: one with the name of EnrollKit's preset, and a bare one without
// it.

import EnrollJSON
import EnrollTesting

struct Preset {
  private let id: String

  init(_ id: String) { self.id = id }

  /// The provider's name in a configuration; nil if EnrollKit has no preset for it.
  private var provider: String? {
    let others: [String: String?] = [
      "google-desktop": "google", "entra-tenant": "entra", "spring-as": "spring", "spring-refresh": "spring",
      "keycloak-strict": "keycloak", "oidc-provider": nil, "zitadel-oidc": nil, "openauth": nil,
      "better-auth": nil,
    ]
    return others[id] ?? id
  }

  private static let googleClient = "1234.apps.googleusercontent.com"

  /// The preset's redirect URI; absent if each app has a redirect URI of its own.
  private static let redirects = [
    "google-desktop": "http://127.0.0.1/",
    "google-ios": "com.googleusercontent.apps.1234:/oauth2redirect",
    "entra-tenant": "http://localhost/", "entra-common": "http://localhost/",
    "entra-external": "http://localhost/", "facebook": "fbnative://authorize",
    "github": "http://127.0.0.1/", "keycloak": "http://127.0.0.1/callback",
    "keycloak-strict": "http://127.0.0.1/callback",
    "zitadel": "http://127.0.0.1/callback", "dex": "http://127.0.0.1/callback",
    "spotify": "http://127.0.0.1/callback",
  ]
  private var ownRedirect: String {
    [
      "b2c": "msal1234://auth", "apple": "https://app.example/callback",
      "authelia": "http://127.0.0.1/callback",
    ][id] ?? "com.example.app:/callback"
  }
  private var redirect: String { Self.redirects[id] ?? ownRedirect }

  var registration: FakeProvider.Registration {
    FakeProvider.Registration(
      clientID: id == "google-ios" ? Self.googleClient : "native", redirectURIs: [redirect])
  }

  /// A bare configuration: the issuer, the client and the redirect.
  func bare(_ fake: FakeProvider) -> JSON {
    let issuer = id == "entra-common" ? "https://login.microsoftonline.com/common/v2.0" : fake.issuer
    return .object(
      [("issuer", .string(issuer)), ("redirectUri", .string(redirect))] + client(fake))
  }

  private func client(_ fake: FakeProvider) -> [(String, JSON?)] {
    [("clientId", .string(fake.registration.clientID)), ("confirmation", .bool(false))]
  }

  /// A configuration with a preset: the provider's name, the parts of the preset, and the registered values.
  func configuration(_ fake: FakeProvider) -> JSON {
    let needsSecret = ["google-desktop", "github"].contains(id)
    return .object(
      client(fake) + parts.map { ($0.0, JSON.string($0.1)) } + [
        ("provider", provider.map { .string($0) }),
        ("redirectUri", Self.redirects[id] == nil ? .string(ownRedirect) : nil),
        ("clientSecret", needsSecret ? .string(fake.registration.secret) : nil),
        ("issuer", provider == nil || ["forgerock", "hydra"].contains(id) ? .string(fake.issuer) : nil),
        ("postLogoutRedirectUri", .string("com.example.app:/logout")),
      ])
  }

  private var parts: [(String, String)] {
    let tenant = ("tenant", FakeProvider.tenant)
    return switch id {
    case "entra-tenant", "entra-external": [tenant]
    case "b2c": [("domain", "acme.b2clogin.com"), tenant, ("policy", "b2c_1_signin")]
    case "okta": [("domain", "dev-1.okta.com")]
    case "auth0": [("domain", "acme.auth0.com")]
    case "keycloak", "keycloak-strict": [("domain", "login.example.org"), ("realm", "acme")]
    case "cognito": [("userPool", "eu-central-1_Abc123")]
    case "pingone": [("environment", FakeProvider.tenant)]
    case "adfs": [("domain", "fs.example.org")]
    case "onelogin": [("domain", "acme.onelogin.com")]
    case "spring-as", "spring-refresh", "authelia", "kanidm", "dex": [("domain", "login.example.org")]
    case "zitadel": [("domain", "acme.zitadel.cloud")]
    case "authentik": [("domain", "login.example.org"), ("application", "app")]
    case "salesforce": [("domain", "acme.my.salesforce.com")]
    default: []
    }
  }
}
