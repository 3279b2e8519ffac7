// What the provider says about itself (OpenID Connect Discovery §3, RFC 8414 §2), and about a user (Core §5.3).

import EnrollCrypto
import EnrollJSON

extension Provider {
  var metadata: JSON {
    func address(_ endpoint: Endpoint) -> JSON { .string(issuer + endpoint.path) }
    func list(_ words: [String]) -> JSON { .array(words.map { .string($0) }) }
    return .object([
      ("issuer", .string(issuer)),
      ("authorization_endpoint", address(.authorize)),
      (
        "pushed_authorization_request_endpoint", options.pushedRequests == .off ? nil : address(.pushed)
      ),
      (
        "require_pushed_authorization_requests", options.pushedRequests == .required ? .bool(true) : nil
      ),
      ("token_endpoint", address(.token)),
      ("userinfo_endpoint", address(.userinfo)),
      ("revocation_endpoint", address(.revocation)),
      ("end_session_endpoint", address(.endSession)),
      ("device_authorization_endpoint", address(.deviceAuthorization)),
      ("jwks_uri", address(.jwks)),
      ("scopes_supported", list(["openid", "profile", "email", "offline_access"])),
      ("response_types_supported", list(["code"])),
      ("response_modes_supported", list(["query"])),
      (
        "grant_types_supported",
        list(["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"])
      ),
      ("code_challenge_methods_supported", list(["S256"])),
      ("token_endpoint_auth_methods_supported", list(["none"])),
      ("revocation_endpoint_auth_methods_supported", list(["none"])),
      ("subject_types_supported", list(["public"])),
      ("id_token_signing_alg_values_supported", list(options.algorithms.map(\.rawValue))),
      ("prompt_values_supported", list(AuthorizationRequest.Prompt.allCases.map(\.rawValue))),
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
    if let claims = backendClaims(ofSession: http.bearer) { return .json(claims) }
    guard let text = http.bearer, let grant = grants.grant(ofAccessToken: text, now: now),
      let user = user(grant.userName)
    else {
      var answer = SandboxAnswer.json(.object([("error", .string("invalid_token"))]), status: 401)
      answer.setHeader("WWW-Authenticate", "Bearer error=\"invalid_token\"")
      return answer
    }
    return .json(.object([("sub", .string(user.subject))] + user.claims(for: grant.scopes)))
  }
}
