// The discovery documents of the fake provider.

import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON

extension FakeProvider {
  /// The URL for signing in with the browser.
  public var authorizationURL: String { urls.authorization }

  /// The URL for ending the provider's session in the browser; nil if there is none.
  public var logoutURL: String? { urls.logout }

  /// The discovery document at `url`.
  func discovery(_ url: String) -> JSON {
    let settings = state.withLock { $0.settings }
    let issuer = urls.documents.first { $0.url == url }?.issuer ?? urls.documents[0].issuer
    func address(_ endpoint: Endpoint) -> JSON? { settings.addresses[endpoint].map { .string($0) } }
    var document = JSONObject([
      ("issuer", .string(issuer)), ("authorization_endpoint", .string(urls.authorization)),
      ("token_endpoint", address(.token)), ("jwks_uri", address(.keys)),
      ("userinfo_endpoint", address(.userinfo)),
      ("revocation_endpoint", hasRevocation ? address(.revocation) : nil),
      ("introspection_endpoint", servesEveryClient ? address(.introspection) : nil),
      ("end_session_endpoint", dialect.logout.style == .auth0 ? nil : urls.logout.map { .string($0) }),
      (
        "device_authorization_endpoint",
        dialect.hasDeviceFlow ? address(.deviceAuthorization) : nil
      ),
      ("response_types_supported", .array([.string("code")])),
      ("code_challenge_methods_supported", .array([.string("S256")])),
    ])
    if !settings.dpopAlgorithms.isEmpty {
      document["dpop_signing_alg_values_supported"] = .array(settings.dpopAlgorithms.map { .string($0) })
    }
    if settings.clientSecret != nil {
      document["token_endpoint_auth_methods_supported"] = .array(
        (settings.announcedSecretMethods ?? settings.secretMethods).map { .string($0.rawValue) })
    }
    if dialect.client.code == .required {
      document["token_endpoint_auth_methods_supported"] = .array(dialect.client.methods.map { .string($0) })
    }
    if settings.takesPushedRequests {
      document["pushed_authorization_request_endpoint"] = address(.pushed)
    }
    for name in dialect.discovery.omit { document[name] = nil }
    for member in dialect.discovery.extra.members {
      document[member.key] = member.value.string.map { .string(urls.filled($0)) } ?? member.value
    }
    settings.metadata(&document)
    return .object(document)
  }
}
