// How a host is configured for each provider of the zoo.

import EnrollJSON
import EnrollTesting

struct Preset {
  private let id: String

  init(_ id: String) { self.id = id }

  /// Where the provider sends the browser back to: what it registers for a native client.
  private static let redirects = [
    "google-desktop": "http://127.0.0.1/callback",
    "google-ios": "com.googleusercontent.apps.1234:/oauth2redirect",
    "entra-tenant": "http://localhost/", "entra-common": "http://localhost/",
    "entra-external": "http://localhost/", "b2c": "msal1234://auth", "facebook": "fb1234://authorize",
    "github": "http://127.0.0.1/callback", "apple": "https://app.example/callback",
  ]

  static func redirect(_ id: String) -> String { redirects[id] ?? "com.example.app:/callback" }

  static func registration(_ id: String) -> ZooProvider.Registration {
    ZooProvider.Registration(redirectURIs: [redirect(id)])
  }

  /// What somebody tries first: the issuer, the client and the redirect.
  func bare(_ zoo: ZooProvider) -> JSON { .object(base(zoo)) }

  private func base(_ zoo: ZooProvider) -> [(String, JSON?)] {
    [
      ("issuer", .string(zoo.issuer)), ("clientId", .string(zoo.registration.clientID)),
      ("redirectUri", .string(Self.redirect(id))), ("confirmation", .bool(false)),
    ]
  }

  /// What the provider needs.
  func configuration(_ zoo: ZooProvider) -> JSON {
    var object = JSONObject(base(zoo))
    object["postLogoutRedirectUri"] = .string("com.example.app:/logout")
    for (key, value) in own(zoo) { object[key] = value }
    return .object(object)
  }

  private func own(_ zoo: ZooProvider) -> [(String, JSON)] {
    let secret = ("clientSecret", JSON.string(zoo.registration.secret))
    switch id {
    case "google-desktop": return [secret, ("promptAfterLogout", .string("select_account"))]
    case "google-ios": return [("promptAfterLogout", .string("select_account"))]
    case "cognito", "gitlab", "kanidm": return [("scopes", .string("openid profile email"))] + logout
    case "facebook": return [("scopes", .string("openid email public_profile"))]
    case "github": return [secret, ("scopes", .string("read:user user:email"))]
    case "discord": return [("scopes", .string("identify email"))]
    case "x": return [("scopes", .string("users.read tweet.read offline.access"))]
    case "spotify": return [("scopes", .string("user-read-email"))]
    case "b2c": return [("scopes", .string("openid offline_access native"))]
    case "salesforce":
      return [
        ("issuer", .string("https://acme.my.salesforce.com")),
        ("scopes", .string("openid profile email refresh_token")),
      ]
    case "apple", "linkedin", "slack": return [secret]
    default: return [("scopes", .string("openid profile email offline_access"))]
    }
  }

  private var logout: [(String, JSON)] {
    id == "cognito" ? [("logoutDialect", .string("cognito"))] : []
  }
}
