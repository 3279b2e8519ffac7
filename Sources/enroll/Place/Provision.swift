// A provider named on the command line: the first sign-in saves it as a profile, so that no later command has to be told.

import EnrollCore
import EnrollJSON

/// What `--issuer` and its companions say.
struct Provision: Equatable {
  var issuer: String
  var clientID: String
  var redirectURI: String
  var scopes: [String]
  var allowsLoopbackHTTP: Bool

  /// Bearer tokens alone: what goes into `curl -H "Authorization: Bearer …"`.
  var configuration: JSON {
    .object([
      ("issuer", .string(issuer)), ("clientId", .string(clientID)), ("redirectUri", .string(redirectURI)),
      ("scopes", .array((scopes.isEmpty ? Self.scopes : scopes).map { .string($0) })),
      ("dpop", .string("never")), ("allowLoopbackHTTP", allowsLoopbackHTTP ? .bool(true) : nil),
    ])
  }

  /// With the address, which `status` shows.
  static let scopes = ["openid", "profile", "email", "offline_access"]
  static let redirectURI = "http://127.0.0.1/callback"

  /// Whether a configuration that is there is for the same client of the same provider.
  func isServed(by configuration: Configuration) -> Bool {
    ASCII.equals(configuration.issuer, issuer) && ASCII.equals(configuration.clientID, clientID)
  }

  /// What to say instead, where what was said is not acceptable.
  static func advice(_ error: EnrollError) -> String {
    switch error.field {
    case "issuer":
      "Give the provider's https address by --issuer; for a provider on this machine add --allow-loopback-http."
    case "clientId": "Give the client that the provider registered by --client-id."
    case "redirectUri": "Give a redirect that the provider registered by --redirect-uri."
    default: "See `enroll login --help`."
    }
  }

  /// The configuration as people read it: a member a line.
  static func page(_ configuration: JSON) -> String {
    let lines = (configuration.object?.members ?? []).map { member in
      "  \(JSON.string(member.key).text): \(member.value.text)"
    }
    return "{\n" + lines.joined(separator: ",\n") + "\n}\n"
  }
}

extension JSON {
  /// Compact text.
  var text: String { String(decoding: serialized(), as: UTF8.self) }
}
