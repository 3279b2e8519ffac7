// The provider's metadata (OpenID Connect Discovery §3, RFC 8414 §2), and a user's claims (Core §5.3).

import EnrollCrypto
import EnrollJSON

extension Provider {
  var metadata: JSON {
    func address(_ endpoint: Endpoint) -> JSON { .string(issuer + endpoint.path) }
    func list(_ words: [String]) -> JSON { .array(words.map { .string($0) }) }
    let clientMethods =
      clients.contains { $0.secret != nil } ? ["client_secret_basic", "client_secret_post"] : ["none"]
    return .object([
      ("issuer", .string(issuer)),
      ("authorization_endpoint", address(.authorize)),
      (
        "pushed_authorization_request_endpoint", options.pushedRequests == .off ? nil : address(.pushed)
      ),
      (
        "require_pushed_authorization_requests", options.pushedRequests == .required ? .bool(true) : nil
      ),
      ("dpop_signing_alg_values_supported", options.dpop == .off ? nil : list(["ES256"])),
      ("token_endpoint", address(.token)),
      ("userinfo_endpoint", address(.userinfo)),
      ("revocation_endpoint", address(.revocation)),
      ("introspection_endpoint", address(.introspection)),
      ("introspection_endpoint_auth_methods_supported", list(["none", "bearer"])),
      ("end_session_endpoint", address(.endSession)),
      ("device_authorization_endpoint", address(.deviceAuthorization)),
      ("jwks_uri", address(.jwks)),
      ("registration_endpoint", options.registersClients ? address(.clientRegistration) : nil),
      ("scopes_supported", list(["openid", "profile", "email", "offline_access"])),
      ("response_types_supported", list(["code"])),
      ("response_modes_supported", list(["query"])),
      (
        "grant_types_supported",
        list(["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"])
      ),
      ("code_challenge_methods_supported", list(["S256"])),
      ("token_endpoint_auth_methods_supported", list(clientMethods)),
      ("revocation_endpoint_auth_methods_supported", list(clientMethods)),
      ("subject_types_supported", list(["public"])),
      ("id_token_signing_alg_values_supported", list(options.algorithms.map(\.rawValue))),
      ("prompt_values_supported", list(CheckedAuthorization.Prompt.allCases.map(\.rawValue))),
      ("acr_values_supported", list(ContextClass.allCases.map(\.rawValue))),
      (
        "claims_supported",
        list([
          "sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "at_hash", "sid", "name",
          "given_name", "family_name", "preferred_username", "email", "email_verified",
        ])
      ),
      ("claims_parameter_supported", .bool(false)),
      ("request_parameter_supported", .bool(false)),
      ("request_uri_parameter_supported", .bool(false)),
      ("authorization_response_iss_parameter_supported", .bool(options.sendsIssuer)),
    ])
  }

  func userinfo(_ http: SandboxRequest) -> SandboxAnswer {
    var answer: SandboxAnswer
    do throws(OAuthRefusal) {
      answer = .json(try userClaims(http))
    } catch {
      answer = .json(.object([("error", .string(error.code))]), status: 401)
      let isAboutProof = error.code != "invalid_token" || options.dpop == .required
      answer.setHeader("WWW-Authenticate", "\(isAboutProof ? "DPoP" : "Bearer") error=\"\(error.code)\"")
    }
    addNonce(to: &answer)
    return answer
  }

  private func userClaims(_ http: SandboxRequest) throws(OAuthRefusal) -> JSON {
    let grant = try shown(http, at: .userinfo)
    guard let user = user(grant.userName) else { throw Self.invalidToken }
    return .object([("sub", .string(user.subject))] + user.claims(for: grant.scopes))
  }

  /// The grant that belongs to the request's access token. If the token is bound to a key, the request must contain a
  /// DPoP proof for this token; with the scheme Bearer it is refused (RFC 9449 §7).
  func shown(_ http: SandboxRequest, at endpoint: Endpoint) throws(OAuthRefusal) -> UserGrant {
    guard let (scheme, text) = http.credentials, let token = grants.accessTokens[text],
      let grant = grants.grant(ofAccessToken: text, now: now)
    else { throw Self.invalidToken }
    if let thumbprint = token.thumbprint {
      guard scheme == "dpop", let proof = try proof(of: http, at: endpoint) else { throw Self.invalidToken }
      guard proof.thumbprint == thumbprint else { throw KeyProof.refusal("the token is another key's") }
      guard proof.covers(text) else { throw KeyProof.refusal("ath is not the token's") }
    } else if scheme != "bearer" {
      throw Self.invalidToken
    }
    return grant
  }

  private static var invalidToken: OAuthRefusal {
    OAuthRefusal("invalid_token", "the token does not work", status: 401)
  }
}
