// Recorded answers of real authorization servers to refresh tokens, with their causes. They are the rows of a table in
// docs/reliability.md. A test renews with each of these answers.

import EnrollRules

/// One row: answers of one server that differ only in their description, which EnrollKit does not read.
struct RecordedRefusal: Sendable {
  let server: String
  let status: Int
  /// One body for each cause.
  let bodies: [String]
  var headers: [HTTPHeader] = []
  /// The events at the server that led to the answer.
  let causes: String
  let verdict: RenewalVerdict

  init(
    _ server: String, _ status: Int, _ bodies: [String], headers: [HTTPHeader] = [], _ causes: String,
    _ verdict: RenewalVerdict
  ) {
    self.server = server
    self.status = status
    self.bodies = bodies
    self.headers = headers
    self.causes = causes
    self.verdict = verdict
  }

  static let all = keycloak + oidcProvider + spring + hydra + others

  private static func errors(_ code: String, _ descriptions: String...) -> [String] {
    descriptions.map { #"{"error":"\#(code)","error_description":"\#($0)"}"# }
  }

  private static let keycloak = [
    RecordedRefusal(
      "Keycloak 26.7", 400,
      errors(
        "invalid_grant", "Session not active", "Offline user session not found", "Token is not active",
        "Stale token", "User disabled", "Invalid refresh token", "Session doesn't have required client",
        "Maximum allowed refresh token reuse exceeded",
        "Offline session invalid because offline access not granted anymore", "DPoP proof is missing",
        "Invalid token issuer. Expected 'http://127.0.0.1:21010/realms/enroll'"),
      "session ended, expired or logged out by an administrator; user disabled; a used token sent again; another host name",
      .ends),
    RecordedRefusal(
      "Keycloak 26.7", 400, errors("invalid_request", "DPoP proof is missing", "No refresh token"),
      "the client now requires DPoP", .refused),
    RecordedRefusal(
      "Keycloak 26.7", 401, errors("invalid_client", "Invalid client or Invalid client credentials"),
      "client disabled or deleted", .refused),
    RecordedRefusal(
      "Keycloak 26.7", 401, errors("unauthorized_client", "Invalid client or Invalid client credentials"),
      "wrong or missing secret", .refused),
    RecordedRefusal(
      "Keycloak 26.7", 400, errors("invalid_client", "Parameter client_assertion_type is missing"),
      "the client now has to sign an assertion", .refused),
    RecordedRefusal(
      "Keycloak 26.7", 403, errors("access_denied", "Realm not enabled"), "realm disabled", .refused),
    RecordedRefusal(
      "Keycloak 26.7", 404, [#"{"error":"Realm does not exist"}"#], "realm deleted or renamed", .unclear),
    RecordedRefusal(
      "Keycloak 26.7", 400, errors("unsupported_grant_type", "Unsupported grant_type"), "grant switched off",
      .refused),
  ]

  private static let oidcProvider = [
    RecordedRefusal(
      "node-oidc-provider 9.13", 400, errors("invalid_grant", "grant request is invalid"),
      "session ended, unknown or expired token, user gone, a used token sent again", .ends),
    RecordedRefusal(
      "node-oidc-provider 9.13", 401, errors("invalid_client", "client authentication failed"),
      "unknown client, wrong secret or method", .refused),
    RecordedRefusal(
      "node-oidc-provider 9.13", 400,
      errors(
        "invalid_request", "requested grant type is not allowed for this client",
        "no client authentication mechanism provided"), "grant switched off for the client", .refused),
    RecordedRefusal(
      "node-oidc-provider 9.13", 400,
      [
        #"{"error":"invalid_scope","error_description":"refresh token missing requested scope","scope":"email"}"#
      ], "a scope that was not granted", .refused),
    RecordedRefusal(
      "node-oidc-provider 9.13", 400, errors("invalid_target", "resource indicator is missing, or unknown"),
      "an unknown resource; the refresh token is spent", .refused),
    RecordedRefusal(
      "node-oidc-provider 9.13", 400,
      errors("use_dpop_nonce", "nonce is required in the DPoP proof", "invalid nonce in DPoP proof"),
      "a nonce that changes faster than it is used", .unclear),
  ]

  private static let spring = [
    RecordedRefusal(
      "Spring Authorization Server 7.0", 400, [#"{"error":"invalid_grant"}"#],
      "unknown or expired token, a used token sent again", .ends),
    RecordedRefusal(
      "Spring Authorization Server 7.0", 400, [#"{"error":"invalid_scope"}"#], "a scope that was not granted",
      .refused),
    RecordedRefusal(
      "Spring Authorization Server 7.0", 401, [#"{"error":"invalid_client"}"#],
      "client deleted, wrong secret",
      .refused),
    RecordedRefusal(
      "Spring Authorization Server 7.0", 401, [""], headers: [HTTPHeader("Content-Length", "0")],
      "public client", .refused),
    RecordedRefusal(
      "Spring Authorization Server 7.0", 403,
      [#"{"timestamp":"2026-11-28T07:24:13.906Z","status":403,"error":"Forbidden","path":"/oauth2/token"}"#],
      "the token endpoint has moved", .unclear),
    RecordedRefusal(
      "Spring Authorization Server 7.0", 302, [""],
      headers: [HTTPHeader("Location", "http://127.0.0.1:21200/login"), HTTPHeader("Content-Length", "0")],
      "the security rules of the server cover the token endpoint", .unclear),
  ]

  private static let hydra = [
    RecordedRefusal(
      "Ory Hydra 2.3", 400,
      errors(
        "invalid_grant",
        "The provided authorization grant (e.g., authorization code, resource owner credentials) or refresh token is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client. The refresh token was already used."
      ), "session ended by an administrator, a used token sent again", .ends),
    RecordedRefusal(
      "Ory Hydra 2.3", 403, errors("access_denied", "The token hook target responded with an error."),
      "the token hook refuses the user", .refused),
    RecordedRefusal(
      "Ory Hydra 2.3", 401, errors("invalid_client", "Client authentication failed"), "client deleted",
      .refused),
    RecordedRefusal(
      "Ory Hydra 2.3", 400,
      errors(
        "unauthorized_client", "The client is not authorized to request a token using this method."),
      "grant switched off for the client", .refused),
    RecordedRefusal(
      "Ory Hydra 2.3", 400, errors("invalid_scope", "The requested scope is invalid, unknown, or malformed."),
      "a scope was taken from the client", .refused),
    RecordedRefusal(
      "Ory Hydra 2.3", 500, errors("server_error", "An error occurred while executing the token hook."),
      "the token hook fails", .unclear),
  ]

  private static let others = [
    RecordedRefusal(
      "zitadel/oidc 3.52", 400, ["{\"error\":\"invalid_grant\"}\n"], "a used token sent again", .ends),
    RecordedRefusal(
      "zitadel/oidc 3.52", 400, ["{\"error\":\"invalid_scope\"}\n"], "a scope that the refresh token lost",
      .refused),
    RecordedRefusal(
      "zitadel/oidc 3.52", 401, errors("invalid_client", "invalid client_id / client_secret"), "wrong secret",
      .refused),
    RecordedRefusal(
      "Dex 2.45", 400,
      errors(
        "invalid_request", "Refresh token is invalid or has already been claimed by another client.",
        #"Requested scopes contain unauthorized scope(s): [\"nonsense\"]."#),
      "session ended, server restarted, a used token sent again; a scope that was not granted", .refused),
    RecordedRefusal(
      "Dex 2.45", 401, errors("invalid_client", "Invalid client credentials."), "wrong secret", .refused),
    RecordedRefusal(
      "OpenAuth 0.4", 400, errors("invalid_grant", "Refresh token has been used or expired"),
      "a used token sent again, expired", .ends),
    RecordedRefusal(
      "@node-oauth/oauth2-server 5.3", 400,
      errors("invalid_grant", "Invalid grant: refresh token is invalid"), "a used token sent again", .ends),
    RecordedRefusal(
      "OpenID conformance suite 5.2", 400,
      [
        #"{"error":"net.openid.conformance.testmodule.TestFailureException: ConditionError: the refresh token","error_description":null,"cause":null,"testId":"a"}"#
      ], "the test is over", .unclear),
  ]
}
