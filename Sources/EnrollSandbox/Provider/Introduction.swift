// The text that the sandbox prints when it starts.

public import EnrollJSON

extension Provider {
  /// The configuration with which EnrollKit uses this sandbox as its first client.
  public var configuration: JSON {
    let client = options.clients.first ?? .sample
    return .object([
      ("issuer", .string(issuer)),
      ("clientId", .string(client.id)), ("clientSecret", client.secret.map { .string($0) }),
      ("redirectUri", client.redirectURIs.first.map { .string($0) }),
      ("postLogoutRedirectUri", client.postLogoutRedirectURIs.first.map { .string($0) }),
      ("scopes", .array(["openid", "profile", "email", "offline_access"].map { .string($0) })),
      ("dpop", options.dpop == .off ? nil : .string("auto")), ("allowLoopbackHTTP", .bool(true)),
    ])
  }

  /// ``configuration`` with one member per line.
  public var readableConfiguration: String {
    let members = configuration.object?.members.map { member in
      "  \"\(member.key)\": " + String(decoding: member.value.serialized(), as: UTF8.self)
    }
    return "{\n" + (members ?? []).joined(separator: ",\n") + "\n}"
  }

  /// One line of JSON: the issuer, the control endpoint, the users and the configuration.
  public var readyLine: String {
    let people = users.map { user in
      JSON.object([("name", .string(user.name)), ("password", .string(user.password))])
    }
    let ready = JSON.object([
      ("issuer", .string(issuer)), ("control", .string(issuer + Endpoint.control.path)),
      ("users", .array(people)), ("configuration", configuration),
    ])
    return String(decoding: ready.serialized(), as: UTF8.self)
  }
}
