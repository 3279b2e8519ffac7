// The endpoints for apps that know neither the provider nor a client id: a protected resource with metadata that name
// the authorization server (RFC 9728), and the registration of clients (RFC 7591).

import EnrollJSON

extension Provider {
  /// The URL of the resource, as it is in the resource's metadata and in tokens.
  var notes: String { issuer + Endpoint.notes.path }

  /// Returns the notes of the token's user. Without a valid token, the answer names the URL of the metadata (RFC 9728
  /// §5.1).
  func readNotes(_ http: SandboxRequest) -> SandboxAnswer {
    guard let token = http.bearer, let grant = grants.grant(ofAccessToken: token, now: now) else {
      var answer = SandboxAnswer.json(.object([("error", .string("invalid_token"))]), status: 401)
      answer.setHeader(
        "WWW-Authenticate", "Bearer resource_metadata=\"\(issuer)\(Endpoint.notesMetadata.path)\"")
      return answer
    }
    return .json(.object([("user", .string(grant.userName)), ("notes", .array([.string("Buy milk")]))]))
  }

  /// The resource's metadata (RFC 9728 §2).
  var notesMetadata: JSON {
    .object([
      ("resource", .string(notes)), ("authorization_servers", .array([.string(issuer)])),
      ("resource_name", .string("Notes of the sandbox")),
      ("scopes_supported", .array([.string("openid"), .string("profile")])),
      ("bearer_methods_supported", .array([.string("header")])),
    ])
  }

  /// Registers any public native client (RFC 7591 §3). A client that registers scopes cannot get other scopes; many
  /// servers work like this.
  func registerClient(_ http: SandboxRequest) -> SandboxAnswer {
    guard options.registersClients else {
      return Self.refusal("invalid_client_metadata", "nobody is registered")
    }
    guard let body = http.json, body.object != nil else {
      return Self.refusal("invalid_client_metadata", "the body must be a JSON object")
    }
    let uris = (body["redirect_uris"]?.array ?? []).compactMap { $0.string }
    guard (1...10).contains(uris.count), uris.count == body["redirect_uris"]?.array?.count else {
      return Self.refusal("invalid_redirect_uri", "redirect_uris must be 1 to 10 texts")
    }
    guard body["token_endpoint_auth_method"]?.string ?? "none" == "none" else {
      return Self.refusal("invalid_client_metadata", "token_endpoint_auth_method must be none")
    }
    guard registeredClients.count < 1000 else {
      return Self.refusal("invalid_client_metadata", "too many clients")
    }
    var client = SandboxClient(
      id: Encoding.randomToken(), name: body["client_name"]?.string ?? "An app", redirectURIs: uris,
      postLogoutRedirectURIs: [])
    client.scopes = body["scope"]?.string?.split(separator: " ").map(String.init)
    registeredClients.append(client)
    guard var answer = body.object else { return Self.refusal("invalid_client_metadata", "no object") }
    answer["client_id"] = .string(client.id)
    answer["client_id_issued_at"] = .integer(now)
    answer["token_endpoint_auth_method"] = .string("none")
    return .json(.object(answer), status: 201)
  }

  private static func refusal(_ code: String, _ text: String) -> SandboxAnswer {
    .json(.object([("error", .string(code)), ("error_description", .string(text))]), status: 400)
  }
}
