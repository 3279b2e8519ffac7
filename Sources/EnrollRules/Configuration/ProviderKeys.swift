// The configuration keys that concern the provider, the client there, and the resources for which tokens are requested.

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
      ) { $0.preset = $1.text }
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
        "The issuer URL, exactly as the provider's metadata spells it. Required unless provider or discoveryUri determines it. With {tenantid} as a segment of its path, each id_token must name the issuer of its own tenant (Entra ID).",
        read: nil,
        check: { ConfigurationRules.issuer($0) }),
      ConfigurationKey(
        "discoveryUri", property: "discoveryURI", or: ["discovery_uri"], .url,
        "The URL of the discovery document if it is not below the issuer. Without issuer, it is the document's URL or the issuer itself."
      ) {
        $0.discoveryURI = $1.text
      } check: {
        ConfigurationRules.discovery($0)
      },
      ConfigurationKey(
        "tenants", .list(.text),
        "With {tenantid} in issuer: the GUIDs of the tenants whose users may sign in. All of them by default."
      ) {
        $0.tenants = $1.texts
      } check: {
        ConfigurationRules.tenants($0)
      },
      ConfigurationKey(
        "clientId", property: "clientID", or: ["client_id"], .text, required: true,
        "The client id that the provider assigned."
      ) {
        $0.clientID = ClientID($1.text)
      } check: {
        ConfigurationRules.printable($0.clientID.text, maximumBytes: 512)
      },
      ConfigurationKey(
        "clientSecret", or: ["client_secret"], .text, secret: true,
        "The secret that the provider gave this native client, if the provider requires one (Google, GitHub). Every copy of the app contains it, so it is public, not confidential (RFC 8252 §8.5)."
      ) {
        $0.clientSecret = Secret($1.text)
      } check: {
        ConfigurationRules.clientSecret($0)
      },
      ConfigurationKey(
        "tokenEndpointAuthMethod", or: ["token_endpoint_auth_method"],
        .named(
          "ClientSecretMethod", "How a client secret is sent (RFC 6749 §2.3.1).",
          .oneOf(ClientSecretMethod.allCases.map { $0.rawValue })),
        "How clientSecret is sent. By default EnrollKit tries the methods that the provider announces, client_secret_basic first. If the provider refuses the client, EnrollKit tries the other method once, and remembers the method that works."
      ) {
        $0.tokenEndpointAuthMethod = ClientSecretMethod(rawValue: $1.text)
      } check: {
        $0.tokenEndpointAuthMethod != nil && $0.clientSecret == nil ? "it needs \(key: "clientSecret")" : nil
      },
      ConfigurationKey(
        "clientKeyFile", property: "clientKey.file", or: ["client_key_file"], .text, file: true,
        "private_key_jwt: the path of the client's private key, instead of clientSecret: PKCS #8 in PEM, or a JWK. For a program that runs where only its owner can read the file. The file is read again for each assertion. A relative path in a profile starts at the profile's folder; in a configuration that a program passes it starts at the current directory of the process."
      ) {
        $0.clientKey = ClientKeySettings(file: $1.text)
      } check: {
        ConfigurationRules.file($0.clientKey?.file)
      },
      ConfigurationKey(
        "clientKeyId", property: "clientKey.id", or: ["client_key_id"], .text,
        "private_key_jwt: the name (kid) under which the provider knows the key. A JWK's kid by default."
      ) {
        $0.clientKey?.id = $1.text
      } check: {
        ConfigurationRules.printable($0.clientKey?.id, maximumBytes: 512)
      },
      ConfigurationKey(
        "clientKeyAlgorithm", property: "clientKey.algorithm",
        or: ["client_key_algorithm", "token_endpoint_auth_signing_alg"],
        signatureAlgorithm,
        "private_key_jwt: the algorithm of the assertions. By default a JWK's alg, otherwise one that the provider announces and that fits the key."
      ) { $0.clientKey?.algorithm = $1.algorithm },
      ConfigurationKey(
        "clientAssertionAudience", property: "clientKey.audience", or: ["client_assertion_audience"], .text,
        "private_key_jwt: the audience of the assertions. The issuer by default; some providers require the token endpoint, for which token_endpoint stands."
      ) {
        $0.clientKey?.audience = $1.text
      } check: {
        ConfigurationRules.assertionAudience($0)
      },
      ConfigurationKey(
        "redirectUri", property: "redirectURI", or: ["redirect_uri"], .url,
        "The redirect URI, required unless provider determines it: a claimed https URL, a private scheme such as com.example.app:/callback, or http://127.0.0.1/callback."
      ) {
        $0.redirectURI = $1.text
      } check: {
        ConfiguredURL.redirect($0.redirectURI, of: $0)
      },
      ConfigurationKey(
        "postLogoutRedirectUri", property: "postLogoutRedirectURI",
        or: [
          "post_logout_redirect_uri", "end_session_redirect_uri", "logoutRedirectUri", "logout_redirect_uri",
        ],
        .url, "The redirect URI after a logout."
      ) {
        $0.postLogoutRedirectURI = $1.text
      } check: {
        ConfiguredURL.redirect($0.postLogoutRedirectURI, of: $0)
      },
      ConfigurationKey(
        "logoutDialect", or: ["logout_dialect"],
        .named(
          "LogoutDialect", "A provider's own way to log out.",
          .oneOf(LogoutDialect.allCases.map { $0.rawValue })),
        "A provider's own logout instead of RP-Initiated Logout. auth0: /v2/logout with returnTo. cognito: /logout with logout_uri."
      ) { $0.logoutDialect = LogoutDialect(rawValue: $1.text) },
      ConfigurationKey(
        "prompt", .text,
        "The OpenID Connect prompt of every sign-in for which the host sets none, such as select_account or consent."
      ) {
        $0.prompt = $1.text
      } check: {
        ConfigurationRules.prompt($0.prompt)
      },
      ConfigurationKey(
        "promptAfterLogout", or: ["prompt_after_logout"],
        .named(
          "PromptAfterLogout", "The prompt of the sign-in after a logout.",
          .oneOf(PromptAfterLogout.allCases.map { $0.rawValue })),
        "The prompt of the sign-in after a logout or retry. login by default."
      ) { $0.promptAfterLogout = PromptAfterLogout(rawValue: $1.text) ?? .login },
      ConfigurationKey(
        "endpoints", .named("Endpoints", "Endpoints of the provider.", .object(endpointKeys)),
        "Endpoints that replace those in the discovery document. If they include all that a sign-in needs (authorizationEndpoint, tokenEndpoint and, for the scope openid, jwksUri), the document is not fetched."
      ) {
        $0.endpoints = $1.endpoints
      } check: {
        ConfigurationRules.endpoints($0)
      },
      ConfigurationKey(
        "profile",
        .named(
          "ProfileMapping", "How a provider without OpenID Connect describes the user.", .object(profileKeys)),
        "Where a provider without OpenID Connect describes the user, and under which names."
      ) {
        $0.profile = $1.profile
      } check: {
        ConfigurationRules.profile($0)
      },
      ConfigurationKey(
        "withoutExpiry", property: "withoutExpirySeconds", or: ["without_expiry"],
        .named(
          "WithoutExpiry", "The lifetime of an access token whose response states none.",
          .either(.oneOf(["never"]), .integer(ConfigurationLimits.withoutExpiry))),
        "Seconds that an access token is valid if its response has no expires_in, or never if it does not expire. 300 by default."
      ) {
        $0.withoutExpirySeconds = $1.seconds ?? Defaults.neverExpiresSeconds
      } check: {
        $0.withoutExpirySeconds == Defaults.neverExpiresSeconds
          ? nil : ConfigurationRules.range($0.withoutExpirySeconds, ConfigurationLimits.withoutExpiry)
      },
      ConfigurationKey(
        "userAgent", or: ["user_agent"], .text,
        "The app's name and version, such as App/2.1, which precede EnrollKit's in the User-Agent header of every request."
      ) {
        $0.userAgent = $1.text
      } check: {
        ConfigurationRules.printable($0.userAgent, maximumBytes: 256, example: ", such as App/2.1")
      },
      ConfigurationKey(
        "pushedRequests", or: ["pushed_requests"], featurePolicy,
        "Whether authorization requests are pushed to the provider by POST (RFC 9126). The default, auto, pushes them if the provider has an endpoint for it."
      ) { $0.pushedRequests = FeaturePolicy(rawValue: $1.text) ?? .auto },
      ConfigurationKey(
        "dpop", featurePolicy,
        "Whether tokens are bound to a key of this client (RFC 9449). Each request with a bound token then needs a proof from dpop.proof. The default is never: Bearer tokens. auto binds tokens if the provider announces ES256; always rejects a sign-in that returns Bearer tokens. An existing session continues with its own tokens."
      ) { $0.dpop = FeaturePolicy(rawValue: $1.text) ?? .never },
      ConfigurationKey(
        "idTokenAlgorithms", or: ["id_token_algorithms"],
        .list(signatureAlgorithm),
        "The accepted signature algorithms of id_tokens. By default those of this list that the provider announces; all of it if the provider announces none."
      ) {
        $0.idTokenAlgorithms = $1.texts.compactMap { SignatureAlgorithm(name: $0) }
      } check: {
        $0.idTokenAlgorithms?.isEmpty ?? false ? "at least one algorithm is needed" : nil
      },
      ConfigurationKey(
        "trustedAudiences", or: ["trusted_audiences"], .list(.text),
        "The audiences that an id_token may name in aud beside this client (OpenID Connect Core §3.1.3.7). An id_token of a sign-in that names any other is refused. * accepts every audience if azp is this client. None by default."
      ) {
        $0.trustedAudiences = $1.texts
      } check: {
        ConfigurationRules.trustedAudiences($0.trustedAudiences)
      },
    ]
  }

  static var resourceKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "resource", .url,
        "The URI of the API or MCP server that the tokens are for (RFC 8707). It is sent with every request that leads to tokens; another resource is another account. Without it the provider decides."
      ) {
        $0.resource = $1.text
      } check: {
        ConfigurationRules.resource($0)
      },
      ConfigurationKey(
        "resources", .list(.url),
        "Further APIs that token.access may name with resource. They are sent with the request that begins a sign-in (RFC 8707 §2). With resource or resources, EnrollKit requests no token for any other API."
      ) {
        $0.resources = $1.texts
      } check: {
        ConfigurationRules.resources($0)
      },
      ConfigurationKey(
        "resourceParameter", or: ["resource_parameter"],
        .named(
          "ResourceParameter", "The parameter that names the APIs that tokens are for.",
          .oneOf(ResourceParameter.allCases.map { $0.rawValue })),
        "The parameter that carries resource and resources: resource (RFC 8707), audience, for Hydra and Authelia, or none, for providers that refuse both, such as Microsoft Entra. resource by default."
      ) { $0.resourceParameter = ResourceParameter(rawValue: $1.text) ?? .resource },
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
