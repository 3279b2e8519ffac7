// The keys of a configuration for the provider and its client.

import EnrollCrypto

extension Configuration {
  static var presetKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "provider",
        .named(
          "ProviderPreset", "A provider whose configuration EnrollKit knows.",
          .oneOf(ProviderPreset.all.map { $0.name })),
        "A provider whose configuration EnrollKit knows, such as google. Other keys that you set take precedence."
      )
    ] + ProviderPreset.partKeys
  }

  private static var signatureAlgorithm: ConfigurationKey.Shape {
    .named(
      "SignatureAlgorithm", "A signature algorithm (RFC 7518 §3.1).",
      .oneOf(SignatureAlgorithm.allCases.map { $0.rawValue }))
  }

  static var providerKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "issuer", .url,
        "The issuer URL, exactly as the provider's metadata spells it. Required unless provider or discoveryUri determines it. With {tenantid} as a segment of its path, each id_token must name the issuer of its own tenant (Entra ID)."
      ),
      ConfigurationKey(
        "discoveryUri", or: ["discovery_uri"], .url,
        "The URL of the discovery document if it is not below the issuer. Without issuer, it is the document's URL or the issuer itself."
      ),
      ConfigurationKey(
        "tenants", .list(.text),
        "With {tenantid} in issuer: the GUIDs of the tenants whose users may sign in. All of them by default."
      ),
      ConfigurationKey(
        "clientId", or: ["client_id"], .text, required: true, "The client id that the provider assigned."),
      ConfigurationKey(
        "clientSecret", or: ["client_secret"], .text, secret: true,
        "The secret that the provider gave this native client, if the provider requires one (Google, GitHub). Every copy of the app contains it, so it is public, not confidential (RFC 8252 §8.5)."
      ),
      ConfigurationKey(
        "tokenEndpointAuthMethod", or: ["token_endpoint_auth_method"],
        .named(
          "ClientSecretMethod", "How a client secret is sent (RFC 6749 §2.3.1).",
          .oneOf(ClientSecretMethod.allCases.map { $0.rawValue })),
        "How clientSecret is sent. By default EnrollKit tries the methods that the provider announces, client_secret_basic first. If the provider refuses the client, EnrollKit tries the other method once, and remembers the method that works."
      ),
      ConfigurationKey(
        "clientKeyFile", or: ["client_key_file"], .text, file: true,
        "private_key_jwt: the path of the client's private key, instead of clientSecret: PKCS #8 in PEM, or a JWK. For a program that runs where only its owner can read the file. The file is read again for each assertion. A relative path in a profile starts at the profile's folder; in a configuration that a program passes it starts at the current directory of the process."
      ),
      ConfigurationKey(
        "clientKeyId", or: ["client_key_id"], .text,
        "private_key_jwt: the name (kid) under which the provider knows the key. A JWK's kid by default."),
      ConfigurationKey(
        "clientKeyAlgorithm", or: ["client_key_algorithm", "token_endpoint_auth_signing_alg"],
        signatureAlgorithm,
        "private_key_jwt: the algorithm of the assertions. By default a JWK's alg, otherwise one that the provider announces and that fits the key."
      ),
      ConfigurationKey(
        "clientAssertionAudience", or: ["client_assertion_audience"], .text,
        "private_key_jwt: the audience of the assertions. The issuer by default; some providers require the token endpoint, for which token_endpoint stands."
      ),
      ConfigurationKey(
        "redirectUri", or: ["redirect_uri"], .url,
        "The redirect URI, required unless provider determines it: a claimed https URL, a private scheme such as com.example.app:/callback, or http://127.0.0.1/callback."
      ),
      ConfigurationKey(
        "postLogoutRedirectUri",
        or: [
          "post_logout_redirect_uri", "end_session_redirect_uri", "logoutRedirectUri", "logout_redirect_uri",
        ],
        .url, "The redirect URI after a logout."),
      ConfigurationKey(
        "logoutDialect", or: ["logout_dialect"],
        .named(
          "LogoutDialect", "A provider's own way to log out.",
          .oneOf(LogoutDialect.allCases.map { $0.rawValue })),
        "A provider's own logout instead of RP-Initiated Logout. auth0: /v2/logout with returnTo. cognito: /logout with logout_uri."
      ),
      ConfigurationKey(
        "prompt", .text,
        "The OpenID Connect prompt of every sign-in for which the host sets none, such as select_account or consent."
      ),
      ConfigurationKey(
        "promptAfterLogout", or: ["prompt_after_logout"],
        .named(
          "PromptAfterLogout", "The prompt of the sign-in after a logout.",
          .oneOf(PromptAfterLogout.allCases.map { $0.rawValue })),
        "The prompt of the sign-in after a logout or retry. login by default."),
      ConfigurationKey(
        "endpoints", .named("Endpoints", "Endpoints of the provider.", .object(endpointKeys)),
        "Endpoints that replace those in the discovery document. If they include all that a sign-in needs (authorizationEndpoint, tokenEndpoint and, for the scope openid, jwksUri), the document is not fetched."
      ),
      ConfigurationKey(
        "profile",
        .named(
          "ProfileMapping", "How a provider without OpenID Connect describes the user.", .object(profileKeys)),
        "Where a provider without OpenID Connect describes the user, and under which names."
      ),
      ConfigurationKey(
        "withoutExpiry", or: ["without_expiry"],
        .named(
          "WithoutExpiry", "The lifetime of an access token whose response states none.",
          .either(.oneOf(["never"]), .integer(ConfigurationLimits.withoutExpiry))),
        "Seconds that an access token is valid if its response has no expires_in, or never if it does not expire. 300 by default."
      ),
      ConfigurationKey(
        "userAgent", or: ["user_agent"], .text,
        "The app's name and version, such as App/2.1, which precede EnrollKit's in the User-Agent header of every request."
      ),
      ConfigurationKey(
        "pushedRequests", or: ["pushed_requests"], featurePolicy,
        "Whether authorization requests are pushed to the provider by POST (RFC 9126). The default, auto, pushes them if the provider has an endpoint for it."
      ),
      ConfigurationKey(
        "dpop", featurePolicy,
        "Whether tokens are bound to a key of this client (RFC 9449). Each request with a bound token then needs a proof from dpop.proof. The default is never: Bearer tokens. auto binds tokens if the provider announces ES256; always rejects a sign-in that returns Bearer tokens. An existing session continues with its own tokens."
      ),
      ConfigurationKey(
        "idTokenAlgorithms", or: ["id_token_algorithms"],
        .list(signatureAlgorithm),
        "The accepted signature algorithms of id_tokens. By default those of this list that the provider announces; all of it if the provider announces none."
      ),
      ConfigurationKey(
        "trustedAudiences", or: ["trusted_audiences"], .list(.text),
        "The audiences that an id_token may name in aud beside this client (OpenID Connect Core §3.1.3.7). An id_token of a sign-in that names any other is refused. * accepts every audience if azp is this client. None by default."
      ),
    ]
  }

  private static var featurePolicy: ConfigurationKey.Shape {
    .named(
      "FeaturePolicy", "When something that a provider may support is used.",
      .oneOf(FeaturePolicy.allCases.map { $0.rawValue }))
  }

  private static var endpointKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "authorizationEndpoint", or: ["authorization_endpoint"], .url, "RFC 6749 §3.1."),
      ConfigurationKey("tokenEndpoint", or: ["token_endpoint"], .url, "RFC 6749 §3.2."),
      ConfigurationKey(
        "jwksUri", or: ["jwks_uri"], .url, "The provider's keys (RFC 7517). Required for the scope openid."),
      ConfigurationKey("userinfoEndpoint", or: ["userinfo_endpoint"], .url, "OpenID Connect Core §5.3."),
      ConfigurationKey("revocationEndpoint", or: ["revocation_endpoint"], .url, "RFC 7009."),
      ConfigurationKey(
        "endSessionEndpoint", or: ["end_session_endpoint"], .url, "OpenID Connect RP-Initiated Logout §2."),
      ConfigurationKey("introspectionEndpoint", or: ["introspection_endpoint"], .url, "RFC 7662."),
      ConfigurationKey(
        "pushedAuthorizationRequestEndpoint", or: ["pushed_authorization_request_endpoint"], .url, "RFC 9126."
      ),
      ConfigurationKey(
        "deviceAuthorizationEndpoint", or: ["device_authorization_endpoint"], .url, "RFC 8628 §3.1."),
      ConfigurationKey(
        "authorizationResponseIssParameterSupported", or: ["authorization_response_iss_parameter_supported"],
        .boolean,
        "Whether every redirect has iss (RFC 9207). If true, a redirect without iss is refused. False by default."
      ),
    ]
  }

  private static var profileKeys: [ConfigurationKey] {
    let paths = ConfigurationKey.Shape.either(.text, .list(.text))
    return [
      ConfigurationKey(
        "endpoint", .url,
        "The URL that describes the user, requested with the access token. The userinfo endpoint by default."),
      ConfigurationKey(
        "subject", paths,
        "The path of sub, such as data.id, or several paths, of which the first with a value is used. An integer becomes text. sub by default."
      ),
      ConfigurationKey("name", paths, "The path or paths of name."),
      ConfigurationKey("email", paths, "The path or paths of email."),
      ConfigurationKey(
        "emailVerified", or: ["email_verified"], paths, "The path or paths of email_verified."),
      ConfigurationKey("picture", paths, "The path or paths of picture."),
      ConfigurationKey(
        "emailsEndpoint", or: ["emails_endpoint"], .url,
        "The URL of the user's e-mail addresses, requested if the profile has none: a list of objects with email, primary and verified."
      ),
    ]
  }
}
