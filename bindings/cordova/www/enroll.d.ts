// Generated from the manifest of EnrollKit 0.1.0 by `make generate`; do not edit.

/** A description of the library. */
export type SystemDescription = {
  /** The library's name. */
  name: 'EnrollKit';
  /** The version of the library: major.minor.patch. */
  version: string;
  /** The version of the C interface: major × 65536 + minor. */
  abi: number;
  commands: string[];
  events: string[];
  /** The key providers that can protect a store. */
  keyProviders: string[];
};

/** The HTTP transport. host: the host sends the requests, through host.http.send. */
export type TransportChoice = 'libcurl' | 'host';

/** The authorization server of a resource. */
export type ResourceDiscovery = {
  /** What the tokens are for: the resource, or its host if only the host's metadata describes it. */
  resource: string;
  /** The URL of the resource's metadata; absent if it has none. */
  metadataUri?: string;
  /** The resource's own name for itself. It is not verified. */
  name?: string;
  /** The authorization servers that the resource names; without metadata, the one that is used. */
  authorizationServers: string[];
  /** The chosen authorization server. Show it to the user before you continue. */
  issuer: string;
  /** The page to which the user will be sent. */
  authorizationEndpoint: string;
  /** The scopes that the challenge names, or else those that the resource lists. */
  scopes?: string[];
  /** Whether the server registers clients (RFC 7591). */
  canRegister: boolean;
  /** Whether the server accepts the URL of a client id metadata document as a client id. */
  takesClientMetadataDocuments: boolean;
  /** Whether the resource accepts only tokens that are bound to a key (RFC 9449). */
  requiresDPoP: boolean;
  /** All of this as one text for resource.register, which then asks nobody again. */
  discovery: string;
};

/** The absolute path of a directory. The daemon's default: $XDG_DATA_HOME/enrollkit. */
export type StoreFolder = string;

/** A client for a resource. */
export type ResourceClient = {
  /** A configuration for client.open. It may contain the client's secret. */
  configuration: Record<string, unknown>;
  origin: ClientOrigin;
  /** Whether this call registered the client. */
  isNew: boolean;
};

/**
 * How the app became a client. configured: by clientId. metadataDocument: by clientMetadataUri. registered: by a
 * registration (RFC 7591).
 */
export type ClientOrigin = 'configured' | 'metadataDocument' | 'registered';

/** The provider and the client. */
export type Configuration = {
  /** A provider whose configuration EnrollKit knows, such as google. Other keys that you set take precedence. */
  provider?: ProviderPreset;
  /** With provider: the provider's host, such as dev-1.okta.com, with a port or path if it has one. */
  domain?: string;
  /** With provider entra, entra-external or b2c: the GUID of the tenant. */
  tenant?: string;
  /** With provider b2c: the user flow or policy, such as B2C_1_signin. */
  policy?: string;
  /** With provider keycloak: the realm. */
  realm?: string;
  /** With provider cognito: the id of the user pool, such as eu-west-1_aBcDeF. */
  userPool?: string;
  /** Another spelling of userPool, never beside it. */
  user_pool?: string;
  /** With provider pingone: the id of the environment. */
  environment?: string;
  /** With provider authentik: the slug of the application. */
  application?: string;
  /**
   * The issuer URL, exactly as the provider's metadata spells it. Required unless provider or discoveryUri
   * determines it. With {tenantid} as a segment of its path, each id_token must name the issuer of its own tenant
   * (Entra ID).
   */
  issuer?: string;
  /**
   * The URL of the discovery document if it is not below the issuer. Without issuer, it is the document's URL or the
   * issuer itself.
   */
  discoveryUri?: string;
  /** Another spelling of discoveryUri, never beside it. */
  discovery_uri?: string;
  /** With {tenantid} in issuer: the GUIDs of the tenants whose users may sign in. All of them by default. */
  tenants?: string[];
  /** The client id that the provider assigned. */
  clientId?: string;
  /** Another spelling of clientId, never beside it. */
  client_id?: string;
  /**
   * The secret that the provider gave this native client, if the provider requires one (Google, GitHub). Every copy
   * of the app contains it, so it is public, not confidential (RFC 8252 §8.5).
   */
  clientSecret?: string;
  /** Another spelling of clientSecret, never beside it. */
  client_secret?: string;
  /**
   * How clientSecret is sent. By default EnrollKit tries the methods that the provider announces,
   * client_secret_basic first. If the provider refuses the client, EnrollKit tries the other method once, and
   * remembers the method that works.
   */
  tokenEndpointAuthMethod?: ClientSecretMethod;
  /** Another spelling of tokenEndpointAuthMethod, never beside it. */
  token_endpoint_auth_method?: ClientSecretMethod;
  /**
   * private_key_jwt: the path of the client's private key, instead of clientSecret: PKCS #8 in PEM, or a JWK. For a
   * program that runs where only its owner can read the file. The file is read again for each assertion. A relative
   * path in a profile starts at the profile's folder; in a configuration that a program passes it starts at the
   * current directory of the process.
   */
  clientKeyFile?: string;
  /** Another spelling of clientKeyFile, never beside it. */
  client_key_file?: string;
  /** private_key_jwt: the name (kid) under which the provider knows the key. A JWK's kid by default. */
  clientKeyId?: string;
  /** Another spelling of clientKeyId, never beside it. */
  client_key_id?: string;
  /**
   * private_key_jwt: the algorithm of the assertions. By default a JWK's alg, otherwise one that the provider
   * announces and that fits the key.
   */
  clientKeyAlgorithm?: SignatureAlgorithm;
  /** Another spelling of clientKeyAlgorithm, never beside it. */
  client_key_algorithm?: SignatureAlgorithm;
  /** Another spelling of clientKeyAlgorithm, never beside it. */
  token_endpoint_auth_signing_alg?: SignatureAlgorithm;
  /**
   * private_key_jwt: the audience of the assertions. The issuer by default; some providers require the token
   * endpoint, for which token_endpoint stands.
   */
  clientAssertionAudience?: string;
  /** Another spelling of clientAssertionAudience, never beside it. */
  client_assertion_audience?: string;
  /**
   * The redirect URI, required unless provider determines it: a claimed https URL, a private scheme such as
   * com.example.app:/callback, or http://127.0.0.1/callback.
   */
  redirectUri?: string;
  /** Another spelling of redirectUri, never beside it. */
  redirect_uri?: string;
  /** The redirect URI after a logout. */
  postLogoutRedirectUri?: string;
  /** Another spelling of postLogoutRedirectUri, never beside it. */
  post_logout_redirect_uri?: string;
  /** Another spelling of postLogoutRedirectUri, never beside it. */
  end_session_redirect_uri?: string;
  /** Another spelling of postLogoutRedirectUri, never beside it. */
  logoutRedirectUri?: string;
  /** Another spelling of postLogoutRedirectUri, never beside it. */
  logout_redirect_uri?: string;
  /**
   * A provider's own logout instead of RP-Initiated Logout. auth0: /v2/logout with returnTo. cognito: /logout with
   * logout_uri.
   */
  logoutDialect?: LogoutDialect;
  /** Another spelling of logoutDialect, never beside it. */
  logout_dialect?: LogoutDialect;
  /** The OpenID Connect prompt of every sign-in for which the host sets none, such as select_account or consent. */
  prompt?: string;
  /** The prompt of the sign-in after a logout or retry. login by default. */
  promptAfterLogout?: PromptAfterLogout;
  /** Another spelling of promptAfterLogout, never beside it. */
  prompt_after_logout?: PromptAfterLogout;
  /**
   * Endpoints that replace those in the discovery document. If they include all that a sign-in needs
   * (authorizationEndpoint, tokenEndpoint and, for the scope openid, jwksUri), the document is not fetched.
   */
  endpoints?: Endpoints;
  /** Where a provider without OpenID Connect describes the user, and under which names. */
  profile?: ProfileMapping;
  /**
   * Seconds that an access token is valid if its response has no expires_in, or never if it does not expire. 300 by
   * default.
   */
  withoutExpiry?: WithoutExpiry;
  /** Another spelling of withoutExpiry, never beside it. */
  without_expiry?: WithoutExpiry;
  /**
   * The app's name and version, such as App/2.1, which precede EnrollKit's in the User-Agent header of every
   * request.
   */
  userAgent?: string;
  /** Another spelling of userAgent, never beside it. */
  user_agent?: string;
  /**
   * Whether authorization requests are pushed to the provider by POST (RFC 9126). The default, auto, pushes them if
   * the provider has an endpoint for it.
   */
  pushedRequests?: FeaturePolicy;
  /** Another spelling of pushedRequests, never beside it. */
  pushed_requests?: FeaturePolicy;
  /**
   * Whether tokens are bound to a key of this client (RFC 9449). Each request with a bound token then needs a proof
   * from dpop.proof. The default is never: Bearer tokens. auto binds tokens if the provider announces ES256; always
   * rejects a sign-in that returns Bearer tokens. An existing session continues with its own tokens.
   */
  dpop?: FeaturePolicy;
  /**
   * The accepted signature algorithms of id_tokens. By default those of this list that the provider announces; all
   * of it if the provider announces none.
   */
  idTokenAlgorithms?: SignatureAlgorithm[];
  /** Another spelling of idTokenAlgorithms, never beside it. */
  id_token_algorithms?: SignatureAlgorithm[];
  /**
   * The audiences that an id_token may name in aud beside this client (OpenID Connect Core §3.1.3.7). An id_token of
   * a sign-in that names any other is refused. * accepts every audience if azp is this client. None by default.
   */
  trustedAudiences?: string[];
  /** Another spelling of trustedAudiences, never beside it. */
  trusted_audiences?: string[];
  /**
   * The URI of the API or MCP server that the tokens are for (RFC 8707). It is sent with every request that leads to
   * tokens; another resource is another account. Without it the provider decides.
   */
  resource?: string;
  /**
   * Further APIs that token.access may name with resource. They are sent with the request that begins a sign-in (RFC
   * 8707 §2). With resource or resources, EnrollKit requests no token for any other API.
   */
  resources?: string[];
  /**
   * The parameter that carries resource and resources: resource (RFC 8707), audience, for Hydra and Authelia, or
   * none, for providers that refuse both, such as Microsoft Entra. resource by default.
   */
  resourceParameter?: ResourceParameter;
  /** Another spelling of resourceParameter, never beside it. */
  resource_parameter?: ResourceParameter;
  /**
   * The scopes to request, as a list or separated by spaces. openid profile offline_access by default;
   * offline_access is left out if the provider lists its scopes without it.
   */
  scopes?: string | string[];
  /** Additional parameters of every authorization request. Names that the protocol uses are rejected. */
  authorizeParameters?: Record<string, string>;
  /** Another spelling of authorizeParameters, never beside it. */
  authorize_parameters?: Record<string, string>;
  /** How many seconds before its expiry an access token is renewed. 60 by default. */
  grace?: number;
  /** Seconds that a sign-in may take. 600 by default. */
  transactionLifetime?: number;
  /** Another spelling of transactionLifetime, never beside it. */
  transaction_lifetime?: number;
  /** Seconds to wait for the link in an e-mail. 86400 by default. */
  emailWait?: number;
  /** Another spelling of emailWait, never beside it. */
  email_wait?: number;
  /** Whether the user must confirm the profile before the tokens are used. True by default. */
  confirmation?: boolean;
  /** Whether the user must have a verified e-mail address. Adds the scope email. False by default. */
  requireVerifiedEmail?: boolean;
  /** Another spelling of requireVerifiedEmail, never beside it. */
  require_verified_email?: boolean;
  /**
   * How a registration begins: with the sign-in page, with prompt=create, with prompt=registration (Hydra), or at
   * the gateway's own page. signIn by default.
   */
  registration?: RegistrationStart;
  /** What an activation link opens: an authorization request, or the welcome page. authorize by default. */
  activation?: Activation;
  /**
   * With activation openPage: the page to open, such as https://id.example/welcome/{activationToken}. The activation
   * link itself by default.
   */
  welcomePage?: string;
  /** Another spelling of welcomePage, never beside it. */
  welcome_page?: string;
  /** The templates of accepted activation links, such as https://app.example/welcome/{activationToken}. */
  appLinks?: string[];
  /** Another spelling of appLinks, never beside it. */
  app_links?: string[];
  /** The link through which the gateway returns the user to a registration. */
  fallbackUri?: string;
  /** Another spelling of fallbackUri, never beside it. */
  fallback_uri?: string;
  /** False on a platform that is not a native app. standInToken is then used instead of a sign-in. True by default. */
  native?: boolean;
  /** The access token to use on a platform that is not a native app. */
  standInToken?: string;
  /** Another spelling of standInToken, never beside it. */
  stand_in_token?: string;
  /** The URL of your back end that confirms that an account exists. */
  registrationCheckUri?: string;
  /** Another spelling of registrationCheckUri, never beside it. */
  registration_check_uri?: string;
  /**
   * Whether registrationCheckUri must confirm the account before each state B, C and H. False by default: it is
   * requested before H only, and only a contradiction in its response stops the sign-in.
   */
  requireCheck?: boolean;
  /** Another spelling of requireCheck, never beside it. */
  require_check?: boolean;
  /** The URL of your back end that receives the confirmed profile. */
  profileUpdateUri?: string;
  /** Another spelling of profileUpdateUri, never beside it. */
  profile_update_uri?: string;
  /** The URL of your back end that receives a report of every failure, without secrets. */
  errorReportUri?: string;
  /** Another spelling of errorReportUri, never beside it. */
  error_report_uri?: string;
  /** The ways to register that the host presents. */
  choices?: ConfiguredChoice[];
  /** Registration through another app, which returns through a link. */
  app2app?: App2App;
  /** Another spelling of app2app, never beside it. */
  anotherApp?: App2App;
  /** Another spelling of app2app, never beside it. */
  another_app?: App2App;
  /** A back end that signs the user in for the app (BFF). */
  bff?: BFF;
  /** Another spelling of bff, never beside it. */
  backend?: BFF;
  /** The provider whose passwordless sign-in API is used. */
  passwordless?: PasswordlessDialect;
  /**
   * The name of the parameter that selects a connection: connection, idp, kc_idp_hint, provider, … connection by
   * default.
   */
  connectionParameter?: string;
  /** Another spelling of connectionParameter, never beside it. */
  connection_parameter?: string;
  /** The page that the browser shows after a loopback redirect. */
  returnPage?: ReturnPage;
  /** Another spelling of returnPage, never beside it. */
  return_page?: ReturnPage;
  /** Whether http to a provider on this machine is allowed. False by default. */
  allowLoopbackHTTP?: boolean;
  /** Another spelling of allowLoopbackHTTP, never beside it. */
  allow_loopback_http?: boolean;
  /** Another spelling of allowLoopbackHTTP, never beside it. */
  allowLoopbackHttp?: boolean;
  /**
   * A PEM file with the certificate authorities to trust instead of the system's. The file that the environment
   * variable SSL_CERT_FILE names by default. A relative path in a profile starts at the profile's folder; in a
   * configuration that a program passes it starts at the current directory of the process.
   */
  caFile?: string;
  /** Another spelling of caFile, never beside it. */
  ca_file?: string;
};

/** A provider whose configuration EnrollKit knows. */
export type ProviderPreset =
  | 'google'
  | 'google-ios'
  | 'entra'
  | 'entra-common'
  | 'entra-external'
  | 'b2c'
  | 'facebook'
  | 'github'
  | 'github-device'
  | 'gitlab'
  | 'okta'
  | 'auth0'
  | 'keycloak'
  | 'cognito'
  | 'forgerock'
  | 'pingone'
  | 'adfs'
  | 'onelogin'
  | 'spring'
  | 'zitadel'
  | 'authentik'
  | 'authelia'
  | 'kanidm'
  | 'dex'
  | 'hydra'
  | 'salesforce'
  | 'discord'
  | 'x'
  | 'spotify'
  | 'apple'
  | 'linkedin'
  | 'slack';

/** How a client secret is sent (RFC 6749 §2.3.1). */
export type ClientSecretMethod = 'client_secret_basic' | 'client_secret_post';

/** A signature algorithm (RFC 7518 §3.1). */
export type SignatureAlgorithm =
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'EdDSA'
  | 'Ed25519';

/** A provider's own way to log out. */
export type LogoutDialect = 'auth0' | 'cognito';

/** The prompt of the sign-in after a logout. */
export type PromptAfterLogout = 'login' | 'select_account' | 'consent';

/** Endpoints of the provider. */
export type Endpoints = {
  /** RFC 6749 §3.1. */
  authorizationEndpoint?: string;
  /** Another spelling of authorizationEndpoint, never beside it. */
  authorization_endpoint?: string;
  /** RFC 6749 §3.2. */
  tokenEndpoint?: string;
  /** Another spelling of tokenEndpoint, never beside it. */
  token_endpoint?: string;
  /** The provider's keys (RFC 7517). Required for the scope openid. */
  jwksUri?: string;
  /** Another spelling of jwksUri, never beside it. */
  jwks_uri?: string;
  /** OpenID Connect Core §5.3. */
  userinfoEndpoint?: string;
  /** Another spelling of userinfoEndpoint, never beside it. */
  userinfo_endpoint?: string;
  /** RFC 7009. */
  revocationEndpoint?: string;
  /** Another spelling of revocationEndpoint, never beside it. */
  revocation_endpoint?: string;
  /** OpenID Connect RP-Initiated Logout §2. */
  endSessionEndpoint?: string;
  /** Another spelling of endSessionEndpoint, never beside it. */
  end_session_endpoint?: string;
  /** RFC 7662. */
  introspectionEndpoint?: string;
  /** Another spelling of introspectionEndpoint, never beside it. */
  introspection_endpoint?: string;
  /** RFC 9126. */
  pushedAuthorizationRequestEndpoint?: string;
  /** Another spelling of pushedAuthorizationRequestEndpoint, never beside it. */
  pushed_authorization_request_endpoint?: string;
  /** RFC 8628 §3.1. */
  deviceAuthorizationEndpoint?: string;
  /** Another spelling of deviceAuthorizationEndpoint, never beside it. */
  device_authorization_endpoint?: string;
  /** Whether every redirect has iss (RFC 9207). If true, a redirect without iss is refused. False by default. */
  authorizationResponseIssParameterSupported?: boolean;
  /** Another spelling of authorizationResponseIssParameterSupported, never beside it. */
  authorization_response_iss_parameter_supported?: boolean;
};

/** How a provider without OpenID Connect describes the user. */
export type ProfileMapping = {
  /** The URL that describes the user, requested with the access token. The userinfo endpoint by default. */
  endpoint?: string;
  /**
   * The path of sub, such as data.id, or several paths, of which the first with a value is used. An integer becomes
   * text. sub by default.
   */
  subject?: string | string[];
  /** The path or paths of name. */
  name?: string | string[];
  /** The path or paths of email. */
  email?: string | string[];
  /** The path or paths of email_verified. */
  emailVerified?: string | string[];
  /** Another spelling of emailVerified, never beside it. */
  email_verified?: string | string[];
  /** The path or paths of picture. */
  picture?: string | string[];
  /**
   * The URL of the user's e-mail addresses, requested if the profile has none: a list of objects with email, primary
   * and verified.
   */
  emailsEndpoint?: string;
  /** Another spelling of emailsEndpoint, never beside it. */
  emails_endpoint?: string;
};

/** The lifetime of an access token whose response states none. */
export type WithoutExpiry = 'never' | number;

/** When something that a provider may support is used. */
export type FeaturePolicy = 'auto' | 'always' | 'never';

/** The parameter that names the APIs that tokens are for. */
export type ResourceParameter = 'resource' | 'audience' | 'none';

/** How a registration begins. */
export type RegistrationStart = 'signIn' | 'promptCreate' | 'promptRegistration' | RegistrationGateway;

/** A registration that begins at a gateway's own page. */
export type RegistrationGateway = {
  /** The registration gateway's own page. */
  registrationUri?: string;
  /** Another spelling of registrationUri, never beside it. */
  registration_uri?: string;
};

/** The effect of an activation link. */
export type Activation = 'authorize' | 'openPage';

/** A way to register that the host presents. */
export type ConfiguredChoice = {
  /** The host's own name for this way to register: google, email, … */
  kind: string;
  /** The provider's name for the connection. */
  connection?: string;
  /** The text that the user sees. */
  label: string;
  /** An additional explanation that the user sees. */
  guidance?: string;
};

/** Registration through another app, which returns through a link. */
export type App2App = {
  /** The gateway's endpoint that begins a registration and returns the other app's link. */
  initUri?: string;
  /** Another spelling of initUri, never beside it. */
  init_uri?: string;
  /** The gateway's endpoint that completes a registration and returns tokens. */
  completeUri?: string;
  /** Another spelling of completeUri, never beside it. */
  complete_uri?: string;
  /** The names of the gateway's fields. */
  fields?: App2AppFields;
  /** The prefixes of links that may be opened. A prefix ends with a whole host or path segment. */
  allowedLinks?: string[];
  /** Another spelling of allowedLinks, never beside it. */
  allowed_links?: string[];
  /** Whether the user must set a PIN before the profile is shown: the step is pin until pin.set. False by default. */
  requirePin?: boolean;
  /** Another spelling of requirePin, never beside it. */
  require_pin?: boolean;
};

/** The names of the gateway's fields. */
export type App2AppFields = {
  /** sessionId by default. */
  sessionId?: string;
  /** Another spelling of sessionId, never beside it. */
  session_id?: string;
  /** link by default. */
  link?: string;
  /** artefactId by default. */
  artefactId?: string;
  /** Another spelling of artefactId, never beside it. */
  artefact_id?: string;
};

/** A back end that signs the user in for the app (BFF). */
export type BFF = {
  /** The base URL of the back end, below which it serves /v1/auth. */
  base: string;
  /** Accepts a session token in the redirect URL, where other programs can read it. False by default. */
  dangerouslyAcceptTokenInRedirect?: boolean;
  /** Another spelling of dangerouslyAcceptTokenInRedirect, never beside it. */
  dangerously_accept_token_in_redirect?: boolean;
};

/** A provider's API for passwordless sign-in. */
export type PasswordlessDialect = 'auth0';

/** The content of the page after a loopback redirect. */
export type ReturnPage = {
  /** The app's name, at the top of the page. */
  appName?: string;
  /** Another spelling of appName, never beside it. */
  app_name?: string;
  /** The app's logo, above its name: a PNG, JPEG, WebP or SVG image as a base64 data: URL of at most 64 KiB. */
  logo?: string;
  /** An additional line of text, in the page's language. */
  text?: string;
  /** The language of the page's texts. en by default. */
  language?: ReturnPageLanguage;
  /** The colour of the line at the top of the page, such as #0b6e4f. */
  color?: string;
  /** Another spelling of color, never beside it. */
  colour?: string;
  /**
   * The page's background colour. Its text is then black or white, whichever has more contrast. The browser's
   * colours by default.
   */
  backgroundColor?: string;
  /** Another spelling of backgroundColor, never beside it. */
  background_color?: string;
  /** Another spelling of backgroundColor, never beside it. */
  backgroundColour?: string;
  /** A link back to the app: a claimed https or private-scheme URL. */
  link?: string;
};

/** A language of the return page. */
export type ReturnPageLanguage = 'en' | 'de' | 'fr' | 'es' | 'it' | 'nl' | 'pt';

/** The host's description of the device. */
export type Platform = {
  /** False: the platform has no external browser; the stand-in token is used. */
  native?: boolean;
  /** The kind of device, in the host's own words. */
  type?: string;
  /** The width of the screen in pixels. */
  width?: number;
  /** The height of the screen in pixels. */
  height?: number;
  /** The host app's version. */
  appVersion?: string;
  /** The host's id for the device. */
  deviceId?: string;
};

/** What will work with a provider. */
export type ProviderCheck = {
  /** The value for the key provider: EnrollKit knows this provider, but the configuration does not name it. */
  provider?: string;
  /** What works and what does not. */
  findings: ProviderFinding[];
};

/** One finding about a provider. */
export type ProviderFinding = {
  subject: ProviderSubject;
  verdict: ProviderVerdict;
  /** Why, in one sentence. */
  text: string;
  /** What to do. */
  advice?: string;
  /** The configuration key that helps. */
  key?: string;
};

/** Something that an app needs from its provider. */
export type ProviderSubject = 'signIn' | 'scopes' | 'profile' | 'renewal' | 'logout' | 'device';

/** Whether it works. limited: in part, or depending on something that the provider does not announce. */
export type ProviderVerdict = 'works' | 'limited' | 'fails';

/** The state of a registration. */
export type State =
  | {
    state: 'starting';
  }
  | {
    state: 'unregistered';
    /** The configured ways to register. */
    choices?: RegistrationChoice[];
  }
  | {
    state: 'authenticating';
    transaction: TransactionID;
    step: Step;
  }
  | {
    state: 'awaitingConfirmation';
    /** The transaction that brought the tokens; the answer names it. */
    transaction: TransactionID;
    /** The user to whom the tokens belong; empty if the provider does not say who it is. */
    profile: Claims;
  }
  | {
    state: 'active';
    reason: ActiveReason;
  }
  | RenewalFailed
  | RegistrationFailed;

/** A configured way to register. */
export type RegistrationChoice = {
  /** The host's own name for this way to register: google, email, … */
  kind: string;
  /** The provider's name for the connection. */
  connection?: string;
  /** The text that the user sees. */
  label: string;
  /** An additional explanation that the user sees. */
  guidance?: string;
};

/** The id of a transaction. */
export type TransactionID = string;

/** The step that a transaction in progress waits for. */
export type Step = 'browser' | 'emailPending' | 'codePending' | 'otherApp' | 'exchanging' | 'pin';

/** Claims about the user (OpenID Connect Core §5.1). */
export type Claims = Record<string, unknown>;

/** How a registration became active. */
export type ActiveReason = 'notNative' | 'valid' | 'renewed' | 'confirmed';

/** The token was due and could not be renewed. */
export type RenewalFailed = {
  state: 'failed';
  reason: 'renewal';
  error: ErrorDetail;
  remedy: Remedy;
  /** Whether the access token still works. */
  tokenUsable: boolean;
};

/** Why a call failed; no text in it contains a secret. */
export type ErrorDetail = {
  status: Status;
  /** The number of the status in the C API. */
  code: number;
  blame: Blame;
  /** Whether the same call may succeed later. */
  retryable: boolean;
  /** What happened, what was expected and what to do, for a log; never a secret. */
  message: string;
  /** The configuration key or parameter at fault. */
  field?: string;
  /** The status of the HTTP response that caused the failure. */
  httpStatus?: number;
  /** The provider's own error code (RFC 6749 §5.2). */
  oauthError?: string;
  /** The provider's own words about its error (error_description); absent if they may repeat a secret. */
  oauthErrorDescription?: string;
  /** How long the server asked the client to wait. In seconds. */
  retryAfter?: number;
};

/** Why a call failed, by name. */
export type Status =
  | 'invalidArgument'
  | 'handle'
  | 'reentrant'
  | 'forked'
  | 'bufferTooSmall'
  | 'cancelled'
  | 'deadlineExceeded'
  | 'busy'
  | 'unsupported'
  | 'illegalState'
  | 'notFound'
  | 'outOfMemory'
  | 'configuration'
  | 'redirectMalformed'
  | 'redirectMismatch'
  | 'unsolicited'
  | 'alreadySettled'
  | 'transactionExpired'
  | 'otherAppMissing'
  | 'activationFailed'
  | 'network'
  | 'tls'
  | 'timeout'
  | 'server'
  | 'responseInvalid'
  | 'oauth'
  | 'loginRequired'
  | 'interactionRequired'
  | 'consentRequired'
  | 'accessDenied'
  | 'issuerMismatch'
  | 'codeRejected'
  | 'keysUnavailable'
  | 'idTokenInvalid'
  | 'profileMismatch'
  | 'emailNotVerified'
  | 'unknownAccount'
  | 'reauthenticate'
  | 'rejected'
  | 'expired'
  | 'storeLocked'
  | 'storeCorrupt'
  | 'storeRefused'
  | 'storeIO'
  | 'storeFull'
  | 'storeKey'
  | 'storeVersion'
  | 'json'
  | 'internal';

/** Who is to blame for a failure. */
export type Blame = 'caller' | 'host' | 'user' | 'server' | 'network' | 'internal';

/** The remedy after a failed renewal. */
export type Remedy = 'retry' | 'wait' | 'registerAgain';

/** The browser, link, app or code step failed. */
export type RegistrationFailed = {
  state: 'failed';
  reason: 'registration';
  error: ErrorDetail;
};

/** The kind of transaction to begin. */
export type TransactionKind = 'signIn' | 'register' | 'passwordless' | 'app2app' | 'bff' | 'device';

/** How to begin a transaction. */
export type BeginOptions = {
  /** none, login, consent, select_account or create. */
  prompt?: string;
  /** The user name or e-mail address to suggest at sign-in. */
  loginHint?: string;
  /** The maximum time since the user signed in. In seconds. */
  maxAge?: number;
  /** Authentication context classes, the best first. */
  acrValues?: string[];
  /** The languages for the provider's pages, the preferred one first. */
  uiLocales?: string[];
  /** An id_token of the user whose session prompt=none checks. */
  idTokenHint?: string;
  /**
   * The provider's name for the connection that the user chose. Required for bff: the back end's name for the
   * provider.
   */
  connection?: string;
  /** passwordless: the e-mail address to which the code or link is sent. */
  email?: string;
  /** passwordless: the phone number to which the code is sent (E.164). */
  phoneNumber?: string;
  message?: PasswordlessMessage;
  /** The URL is not opened at once, for example because it is shown: the request is pushed only if that is required. */
  opensLater?: boolean;
};

/** The message that a passwordless sign-in sends to the user. */
export type PasswordlessMessage = 'code' | 'link';

/** A transaction that has begun. */
export type Transaction = {
  transaction: TransactionID;
  action: Action;
  /** The redirect URI that was sent; for a loopback redirect, with its port. Absent if there is no redirect. */
  redirectUri?: string;
  /** When the transaction expires. In seconds since 1970-01-01T00:00:00Z. */
  expiresAt: number;
  /** False for a loopback redirect: its listener ends with the process. */
  survivesProcess: boolean;
  /**
   * Until when the URL can be opened, because the provider keeps the pushed request only until then (RFC 9126 §2.2).
   * In seconds since 1970-01-01T00:00:00Z.
   */
  urlExpiresAt?: number;
};

/** The action that the host must take for a transaction to continue. */
export type Action =
  | {
    type: 'openURL';
    /** The URL. It contains the state of the transaction. */
    url: string;
  }
  | {
    type: 'enterCode';
    /** The e-mail address or phone number to which the code was sent. */
    recipient: string;
  }
  | {
    type: 'awaitLink';
    /** The e-mail address to which the link was sent. */
    recipient: string;
  }
  | {
    type: 'openOtherApp';
    /** The link to the other app. */
    url: string;
  }
  | {
    type: 'showDeviceCode';
    /** The code that the user types. */
    userCode: string;
    /** The URL of the page where the user types the code. */
    verificationUri: string;
    /** The URL that includes the code, for a QR code. */
    verificationUriComplete?: string;
  };

/** The outcome of a link. */
export type HandledLink =
  | {
    kind: 'begun';
    transaction: TransactionID;
    action: Action;
    /** The redirect URI that was sent; for a loopback redirect, with its port. Absent if there is no redirect. */
    redirectUri?: string;
    /** When the transaction expires. In seconds since 1970-01-01T00:00:00Z. */
    expiresAt: number;
    /** False for a loopback redirect: its listener ends with the process. */
    survivesProcess: boolean;
    /**
     * Until when the URL can be opened, because the provider keeps the pushed request only until then (RFC 9126
     * §2.2). In seconds since 1970-01-01T00:00:00Z.
     */
    urlExpiresAt?: number;
  }
  | Unsolicited
  | LinkUsed
  | LinkExpired;

/** No transaction waits for the URL; nothing happened. */
export type Unsolicited = {
  kind: 'unsolicited';
  /** What the host can offer the user, the best first. */
  offers?: LinkOffer[];
};

/** A transaction that the host may offer to a user whose link had no effect. */
export type LinkOffer = 'signIn' | 'register';

/** This link, or a fallback link, was used before; nothing happened. */
export type LinkUsed = {
  kind: 'linkUsed';
  /** What the host can offer the user, the best first. */
  offers: LinkOffer[];
};

/** The transaction that waited for the link has expired; nothing happened. */
export type LinkExpired = {
  kind: 'linkExpired';
  /** What the host can offer the user, the best first. */
  offers: LinkOffer[];
};

/** The result of a logout that forgets the device. */
export type Deregistration = {
  state: State;
  /** The URL that ends the provider's session in the browser, as in logout.begin. Absent if there is none. */
  url?: string;
  providerTold?: ProviderTold;
  /** Why the tokens cannot be revoked at the provider. */
  reason?: string;
};

/**
 * Whether the provider knows of a sign-out: told; queued (the revocation waits for the browser's return, or is
 * retried for at most 7 days); notPossible (the tokens work until they expire). Absent if there was nothing to tell.
 */
export type ProviderTold = 'told' | 'queued' | 'notPossible';

/** The meaning of a URL that reached the app. */
export type HandledURL =
  | Redirected
  | LoggedOut
  | {
    kind: 'begun';
    transaction: TransactionID;
    action: Action;
    /** The redirect URI that was sent; for a loopback redirect, with its port. Absent if there is no redirect. */
    redirectUri?: string;
    /** When the transaction expires. In seconds since 1970-01-01T00:00:00Z. */
    expiresAt: number;
    /** False for a loopback redirect: its listener ends with the process. */
    survivesProcess: boolean;
    /**
     * Until when the URL can be opened, because the provider keeps the pushed request only until then (RFC 9126
     * §2.2). In seconds since 1970-01-01T00:00:00Z.
     */
    urlExpiresAt?: number;
  }
  | Unsolicited
  | LinkUsed
  | LinkExpired;

/** The URL was a redirect. */
export type Redirected = {
  kind: 'registration';
  state: State;
};

/** The URL was the logout callback; the logout is finished. */
export type LoggedOut = {
  kind: 'logout';
};

/** The outcome of a call for a valid access token. */
export type AccessOutcome =
  | {
    outcome: 'valid';
    /** For the Authorization header or a form body, and nowhere else. */
    accessToken: string;
    /** The type as the server spells it: Bearer, DPoP. */
    tokenType: string;
    /**
     * When the token expires, by this device's clock; absent for a stand-in token, which does not expire. In seconds
     * since 1970-01-01T00:00:00Z.
     */
    expiresAt?: number;
    /**
     * The granted scopes, separated by spaces; there may be fewer than were requested. Those that were requested if
     * the provider does not say. Absent for a stand-in token.
     */
    scope?: string;
    /**
     * For a token that was requested with resource or scope: how it differs from that, in words, because the
     * provider ignored it. Absent if nothing shows a difference.
     */
    deviation?: string;
  }
  | {
    outcome: 'stale';
    /** For the Authorization header or a form body, and nowhere else. */
    accessToken: string;
    /** The type as the server spells it: Bearer, DPoP. */
    tokenType: string;
    /**
     * When the token expires, by this device's clock; absent for a stand-in token, which does not expire. In seconds
     * since 1970-01-01T00:00:00Z.
     */
    expiresAt?: number;
    /**
     * The granted scopes, separated by spaces; there may be fewer than were requested. Those that were requested if
     * the provider does not say. Absent for a stand-in token.
     */
    scope?: string;
    /**
     * For a token that was requested with resource or scope: how it differs from that, in words, because the
     * provider ignored it. Absent if nothing shows a difference.
     */
    deviation?: string;
    /** A word or a short text, for a log. */
    reason: string;
    error: ErrorDetail;
  }
  | {
    outcome: 'expired';
    /** When the first renewal failed. In seconds since 1970-01-01T00:00:00Z. */
    offlineSince?: number;
    /** The time to wait before another try. In seconds. */
    retryAfter?: number;
    /** A word or a short text, for a log. */
    reason: string;
    error: ErrorDetail;
  }
  | {
    outcome: 'rejected';
    /** A word or a short text, for a log. */
    reason: string;
    error: ErrorDetail;
  }
  | {
    outcome: 'reauthenticate';
    /** A word or a short text, for a log. */
    reason: string;
    /** The provider's own words about its error (error_description); absent if they may repeat a secret. */
    oauthErrorDescription?: string;
  }
  | {
    outcome: 'storeLocked';
  }
  | {
    outcome: 'busy';
  };

/** A stored access token, without its secret. The session's own token has neither resource nor scope. */
export type KeptToken = {
  /** The resource server that the token is for. */
  resource?: string;
  /** The requested scopes, separated by spaces. */
  scope?: string;
  /** The granted scopes, separated by spaces. */
  granted: string;
  /** The type as the server spells it: Bearer, DPoP. */
  tokenType: string;
  /** When the token expires, by this device's clock; it may have expired. In seconds since 1970-01-01T00:00:00Z. */
  expiresAt: number;
};

/** Whether the provider knows of a revocation. */
export type Revocation = {
  providerTold?: ProviderTold;
  /** Why the tokens cannot be revoked at the provider. */
  reason?: string;
};

/** One of the session's tokens; it is not returned. */
export type TokenKind = 'accessToken' | 'refreshToken';

/** The provider's answer about a token. */
export type Introspection = {
  /** Whether the token is active. */
  active: boolean;
  /** The whole response (RFC 7662 §2.2). */
  claims: Claims;
};

/** The result of a logout. */
export type SignOut = {
  /** The URL to open in the external browser. Absent if the provider has no such page. */
  url?: string;
  providerTold?: ProviderTold;
  /** Why the tokens cannot be revoked at the provider. */
  reason?: string;
};

/**
 * The stored data about an account, without the refresh token. Everything but waiting belongs to the confirmed
 * session, and is absent without one.
 */
export type Account = {
  /** The verified claims about the user. */
  profile?: Claims;
  /** The id_token as the provider signed it. */
  idToken?: string;
  /** The stored access token, even if it has expired; token.access returns one that works. */
  accessToken?: string;
  /** When the access token expires. In seconds since 1970-01-01T00:00:00Z. */
  expiresAt?: number;
  /**
   * Whether the session renews its access token. Without, the user signs in again when the token expires. Absent if
   * no user is signed in.
   */
  renews?: boolean;
  /**
   * When the refresh token expires unless a renewal replaces it. Absent if the provider does not say. In seconds
   * since 1970-01-01T00:00:00Z.
   */
  renewableUntil?: number;
  /**
   * The scopes that were requested and that the provider did not grant, separated by spaces. Absent if it granted
   * all, or does not say.
   */
  missingScopes?: string;
  registrationType?: RegistrationType;
  waiting?: WaitingSignIn;
};

/** How the account was registered; absent for any other way. */
export type RegistrationType = 'SOCIAL' | 'PASSWORDLESS';

/**
 * The sign-in that waits for the user's confirmation, beside the session or without one. Its tokens are not handed
 * out.
 */
export type WaitingSignIn = {
  /** The transaction that brought its tokens; registration.confirm names it. */
  transaction: TransactionID;
  /** The user who is to confirm; empty if the provider does not say who it is. */
  profile: Claims;
  registrationType?: RegistrationType;
};

/** The result of entering a PIN. */
export type PINAnswer = {
  outcome: PINOutcome;
  /** Tries left before the account is erased. */
  triesLeft: number;
  /** The time until the next try is checked. In seconds. */
  retryAfter: number;
};

/**
 * Whether a PIN was correct: unlocked; wrong; tooSoon (not checked); erased (the last try failed, and the account
 * was erased).
 */
export type PINOutcome = 'unlocked' | 'wrong' | 'tooSoon' | 'erased';

/** The state of a store, without secrets. */
export type StoreDiagnosis =
  | {
    /** The directory. */
    store: string;
    /** False: there is no such directory. */
    exists: boolean;
  }
  | {
    /** The directory. */
    store: string;
    /** True. */
    exists: boolean;
    /** The user id of the owner. */
    owner: number;
    /** Octal. */
    permissions: string;
    /** The key providers that have the key. None before the first use. */
    keyProviders: string[];
    keyChoice?: KeyDecision;
    /** The number of accounts, readable or not. */
    accounts: number;
    /** The number of damaged files that were set aside. */
    setAside: number;
    /** The sealed files by name, at most 1000: files that open are left out first. None while the key is unavailable. */
    files: StoredFile[];
    /** The number of sealed files that are left out. */
    omittedFiles?: number;
    /** The first 1000 files of the store whose mode is not 0600. A file that other users can access is not used. */
    wrongModes?: WrongMode[];
    /** What is wrong with the store. */
    problem?: ErrorDetail;
  };

/** The key provider that a new store would get, and why. */
export type KeyDecision = {
  /** The name of a key provider. Absent while the best one is locked. */
  provider?: string;
  /** Why this key provider was chosen. */
  reason: string;
  /** The key providers in the order of preference. */
  candidates: KeyCandidate[];
};

/** A key provider, and whether it is available. */
export type KeyCandidate = {
  /** The name of a key provider. */
  provider: string;
  presence: KeyPresence;
  /** Why it is not available. */
  reason?: string;
};

/** Whether a key provider is available. */
export type KeyPresence = 'present' | 'locked' | 'absent';

/** A sealed file of a store. */
export type StoredFile = {
  /** The file name. It contains no account name. */
  name: string;
  kind: StoredFileKind;
  /** The file was damaged and had this name. If you rename it back, it is used again. */
  setAsideFrom?: string;
  /** Increases by one with every write; decimal. */
  generation?: string;
  /** Whether the account has a PIN. */
  pin?: boolean;
  /** As in diagnostics.export: for humans, without secrets. */
  account?: Record<string, unknown>;
  /** For the outbox: the number of messages that servers have not received yet. */
  entries?: number;
  /** What is wrong with the file. */
  problem?: ErrorDetail;
};

/** The content of a sealed file. */
export type StoredFileKind = 'account' | 'outbox' | 'installation' | 'provider' | 'client';

/** A file of a store whose mode is not 0600. */
export type WrongMode = {
  /** The file name. It contains no account name. */
  name: string;
  /** Octal. */
  permissions: string;
};

/** A PKCE verifier and its challenge (RFC 7636 §4). */
export type PKCE = {
  /** A secret, 43 characters of base64url. */
  codeVerifier: string;
  /** The SHA-256 of the verifier, in base64url. */
  codeChallenge: string;
  /** Always S256. */
  codeChallengeMethod: 'S256';
};

/** A redirect as parsed, not verified. */
export type Redirect = {
  /** The authorization code. */
  code?: string;
  /** The state, which names the transaction; not verified. */
  state?: string;
  /** The issuer that the redirect names; not verified. */
  iss?: string;
  /** The provider's error code. */
  error?: string;
  /** The provider's text for the developer. */
  errorDescription?: string;
};

/** The configuration that a URL belongs to. */
export type Route = {
  /** The index of the configuration that owns the URL. Absent if none does. */
  index?: number;
  kind?: Ownership;
};

/** How a URL relates to the configuration that owns it. */
export type Ownership = 'redirect' | 'logout' | 'fallback' | 'activation';

/** A link that the allow-list accepts. */
export type Link = {
  kind: LinkKind;
  /** The scheme, in lower case. */
  scheme: string;
  /** The host; an IPv6 address with its brackets. */
  host?: string;
  /** The port, if the link has one. */
  port?: number;
  /** The path, unchanged. */
  path: string;
  /** The query, without the question mark. */
  query?: string;
  /** Whether the URL had a fragment, which was dropped. */
  hadFragment: boolean;
};

/** The kind of a permitted link. */
export type LinkKind = 'https' | 'loopbackHTTP' | 'privateScheme';

/** The phase of a token's life. */
export type Expiry = {
  band: Band;
  /** The time until the token expires; negative once it has expired. In seconds. */
  secondsLeft: number;
};

/** The phase of a token's life. fresh: use it. due: renew it. expired: renew it or fail. */
export type Band = 'fresh' | 'due' | 'expired';

/** What can be done about a failure. */
export type Help = 'retry' | 'wait' | 'registerAgain' | 'verifyEmail' | 'createAccount' | 'support';

/** How a call is made. */
export interface CallOptions {
  /** Aborting it cancels the call, which then fails with the status 'cancelled'. */
  signal?: AbortSignal;
}

/** Why a call failed. */
export interface EnrollError extends Error, ErrorDetail {
  readonly name: 'EnrollError';
  readonly message: string;
}

/** The members of each event in addition to its `name`. */
export interface EventParameters {
  /** The state of the registration changed. */
  'registration.changed': {
    /** The handle that client.open returned. */
    client: string;
    state: State;
  };
  /** Sent once, when the first state is known: the host may hide its splash screen. */
  'registration.settled': {
    /** The handle that client.open returned. */
    client: string;
    state: State;
  };
  /** The tokens were renewed and stored. */
  'token.renewed': {
    /** The handle that client.open returned. */
    client: string;
    /** When the access token expires. In seconds since 1970-01-01T00:00:00Z. */
    expiresAt: number;
  };
  /** A renewal failed; the session is unchanged. */
  'token.renewalFailed': {
    /** The handle that client.open returned. */
    client: string;
    error: ErrorDetail;
  };
  /** The browser returned from the logout. */
  'logout.finished': {
    /** The handle that client.open returned. */
    client: string;
  };
  /** A failure that the host may show to the user. */
  'error.reported': {
    /** The handle that client.open returned. */
    client: string;
    error: ErrorDetail;
    /** A key for the host's own texts: error. followed by the name of the status. */
    messageKey: string;
    helps: Help;
  };
  /** Specific to the plugin: a URL that reached the app belonged to this client. */
  'url.handled': { client: string; outcome: HandledURL; error?: undefined } | { client: string; outcome?: undefined; error: EnrollError };
}

export type EventName = keyof EventParameters;

export type EnrollEvent = { [Name in EventName]: { name: Name } & EventParameters[Name] }[EventName];

export interface SystemCommands {
  /** Describes this library: versions, commands, key providers. */
  describe(parameters?: Record<string, never>, options?: CallOptions): Promise<SystemDescription>;
}

export interface ResourceCommands {
  /**
   * Finds the authorization server that issues tokens for a resource (an API, an MCP server). Registers nothing and
   * sends no token.
   */
  discover(parameters: {
    /** The URI of the resource: https, without a fragment. */
    resource: string;
    /**
     * The authorization server to choose from those of the resource. The first one by default. For a resource
     * without metadata, name its server.
     */
    issuer?: string;
    /**
     * The value of the header WWW-Authenticate of the resource's 401 or 403, if you have one (several joined by
     * commas). It says where the metadata is and which scopes are needed; with insufficient_scope these are added to
     * the earlier ones.
     */
    challenge?: string;
    /** Whether http to servers on this machine is allowed. */
    allowLoopbackHTTP?: boolean;
    /** A PEM file with the certificate authorities to trust instead of the system's. */
    caFile?: string;
    transport?: TransportChoice;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<ResourceDiscovery>;
  /**
   * Makes a configuration for a resource: with your client id, with your client id metadata document, or with a
   * client that it registers once and keeps.
   */
  register(parameters: {
    /** The URI of the resource: https, without a fragment. */
    resource: string;
    /** The authorization server that you showed to the user: issuer of resource.discover. Any other is rejected. */
    issuer: string;
    /** The redirect URI, as in a configuration. */
    redirectUri: string;
    /** The app's name, for the server's pages. */
    clientName?: string;
    /**
     * The scopes to request; if challenge has insufficient_scope, its scopes are added. By default those of
     * challenge, or else those that the resource lists; in addition offline_access and openid if the server lists
     * them.
     */
    scopes?: string[];
    /** The client id, if the app is already registered with the server. */
    clientId?: string;
    /** The secret of clientId. */
    clientSecret?: string;
    /** The https URL of the app's client id metadata document, for servers that accept one. */
    clientMetadataUri?: string;
    /**
     * Whether to register again although a client is stored. A client that the server refused at a renewal
     * (invalid_client, unauthorized_client) is registered again without it; pass true if a sign-in was refused.
     */
    again?: boolean;
    /**
     * Whether your program listens at the port of redirectUri itself. By default the port is bound during the first
     * registration, which fails with busy if another program has it.
     */
    holdsPort?: boolean;
    /**
     * The value of the header WWW-Authenticate of the resource's 401 or 403, if you have one (several joined by
     * commas). It says where the metadata is and which scopes are needed; with insufficient_scope these are added to
     * the earlier ones.
     */
    challenge?: string;
    /** discovery of resource.discover: what it found is used, and nobody is asked for it again. */
    discovery?: string;
    /**
     * The server that the resource named before, if it has moved to another: the client that was registered there is
     * deleted.
     */
    previousIssuer?: string;
    /** A name within the app's own data, not a path. */
    store?: StoreFolder;
    /** Whether http to servers on this machine is allowed. */
    allowLoopbackHTTP?: boolean;
    /** A PEM file with the certificate authorities to trust instead of the system's. */
    caFile?: string;
    transport?: TransportChoice;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<ResourceClient>;
}

export interface PlatformCommands {
  /** Reports that the host's platform is ready (Cordova's deviceready). */
  ready(parameters?: Record<string, never>, options?: CallOptions): Promise<Record<string, never>>;
}

export interface ProviderCommands {
  /**
   * Reads the provider's metadata and reports what will work with this configuration. No user signs in. Client id
   * and redirect URI are checked only if the provider accepts pushed requests: one is pushed and never opened.
   */
  check(parameters?: {
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<ProviderCheck>;
}

export interface RegistrationCommands {
  /** Reads the state of the registration. The first call starts it. */
  state(parameters?: {
    /**
     * Whether to wait until the state no longer changes by itself, and until a sign-in that an earlier run began has
     * an outcome.
     */
    wait?: boolean;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Begins a transaction and returns what the host has to do next. */
  begin(parameters?: {
    kind?: TransactionKind;
    /** The scopes to request instead of the configured ones. */
    scopes?: string | string[];
    options?: BeginOptions;
    /** Additional parameters of the authorization request; names that the protocol uses are rejected. */
    parameters?: Record<string, string>;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<Transaction>;
  /** Completes a transaction with its redirect. */
  resume(parameters: {
    /** The URL as the host received it. */
    url: string;
    /** The transaction of the redirect. Needed only if the URL has no state and several transactions are pending. */
    transaction?: TransactionID;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Handles an activation or fallback link and returns what the host has to do next. */
  handleLink(parameters: {
    /** The URL as the host received it. */
    url: string;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<HandledLink>;
  /**
   * Waits until a transaction has an outcome: through its loopback redirect, another call or process, or the user on
   * another device.
   */
  awaitOutcome(parameters: {
    transaction: TransactionID;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Submits the one-time code that the user typed. */
  submitCode(parameters: {
    transaction: TransactionID;
    /** The code as the user typed it. */
    code: string;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Confirms the profile for the user: G to H, after the required checks of the e-mail address and the registration. */
  confirm(parameters?: {
    /**
     * The transaction of the profile that the user confirms. By default the only one that this client has shown; if
     * it has shown several, or if another one waits, the command fails and nothing changes.
     */
    transaction?: TransactionID;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Rejects the profile or starts over: erases unconfirmed tokens, and keeps confirmed ones. */
  retry(parameters?: {
    /**
     * The transaction of the profile that the user rejects; if another one waits, the command fails and nothing
     * changes. By default it starts over, whatever waits.
     */
    transaction?: TransactionID;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /**
   * Reports that the user left the browser. A valid redirect that arrives later still counts; a registration then
   * waits for the link in its e-mail.
   */
  cancel(parameters?: {
    /** The transaction; all pending transactions by default. */
    transaction?: TransactionID;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Reports that the other app's link could not be opened. Its transaction fails (F). */
  otherAppMissing(parameters: {
    transaction: TransactionID;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Erases the local state only. Sends nothing. */
  clear(parameters?: Record<string, never>, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Logs out, erases pending transactions and resets the installation id. */
  deregister(parameters?: {
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<Deregistration>;
}

export interface UrlCommands {
  /** Handles any URL that reaches the app: a redirect, a logout callback or a link. */
  handle(parameters: {
    /** The URL as the host received it. */
    url: string;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<HandledURL>;
}

export interface TokenCommands {
  /** Returns a valid access token, renewed if due. All callers share one renewal. */
  access(parameters?: {
    /**
     * The resource server that the token is for (RFC 8707): an absolute https URL without a fragment. By default the
     * session's own token.
     */
    resource?: string;
    /** The scopes that the token should have, out of those that the user granted. By default the session's own token. */
    scope?: string | string[];
    /** How long the token must still live; at most nine tenths of its whole life count. In seconds. */
    minimumLifetime?: number;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<AccessOutcome>;
  /**
   * Renews the token now, whatever its age, for example after a resource server rejected it. Observes a pause that
   * the provider asked for.
   */
  refresh(parameters?: {
    /**
     * The resource server that the token is for (RFC 8707): an absolute https URL without a fragment. By default the
     * session's own token.
     */
    resource?: string;
    /** The scopes that the token should have, out of those that the user granted. By default the session's own token. */
    scope?: string | string[];
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<AccessOutcome>;
  /**
   * Reports that a resource server rejected this access token with 401. The token is renewed once. If the session
   * has no refresh token, the outcome is reauthenticate, also of token.access, until a sign-in. If the next token is
   * rejected within a minute, the outcome is rejected: the session goes on, because only that API refuses.
   */
  rejected(parameters: {
    /** The rejected token. */
    accessToken: string;
    /**
     * The resource server that the token is for (RFC 8707): an absolute https URL without a fragment. By default the
     * session's own token.
     */
    resource?: string;
    /** The scopes that the token should have, out of those that the user granted. By default the session's own token. */
    scope?: string | string[];
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<AccessOutcome>;
  /**
   * Lists the stored access tokens, without the tokens themselves: the session's own first, then those for other
   * audiences.
   */
  list(parameters?: Record<string, never>, options?: CallOptions): Promise<{
    /** Empty if no user is signed in. */
    tokens: KeptToken[];
  }>;
  /**
   * Revokes the session's tokens at the provider and erases them here. A revocation that waits for a browser since
   * logout.begin is sent now.
   */
  revoke(parameters?: {
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<Revocation>;
  /** Asks the provider about one of the session's tokens (RFC 7662), if there is a valid access token. */
  introspect(parameters?: {
    token?: TokenKind;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<Introspection>;
}

export interface DpopCommands {
  /** Makes a proof for one of the host's requests that carries a DPoP token (RFC 9449). Sends nothing. */
  proof(parameters: {
    /** The method as sent, such as GET. */
    method: string;
    /** The URL with its path as sent. Its query and fragment are removed. */
    url: string;
    /** The nonce that the server demanded. By default that server's last nonce. */
    nonce?: string;
    /** The token that the request carries. By default the current one. */
    accessToken?: string;
  }, options?: CallOptions): Promise<{
    /** The value of the header DPoP. */
    proof: string;
  }>;
}

export interface IdentityCommands {
  /**
   * Reads the stored, verified claims about the user who is signed in; without a session, about the one who is asked
   * to confirm.
   */
  profile(parameters?: Record<string, never>, options?: CallOptions): Promise<{
    /** OpenID Connect Core §5.1. */
    claims: Claims;
  }>;
  /**
   * Fetches the claims from the provider, if there is a valid access token. Claims about another user are rejected.
   * A 401 renews the token once, as token.rejected does.
   */
  userinfo(parameters?: {
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** OpenID Connect Core §5.1. */
    claims: Claims;
  }>;
}

export interface LogoutCommands {
  /**
   * Erases the tokens here, revokes them at the provider, and returns the URL that ends the provider's session in
   * the browser. With postLogoutRedirectUri the revocation waits for logout.resume or url.handle, for at most 180
   * seconds; token.revoke ends that wait.
   */
  begin(parameters?: {
    /** Sends nothing and returns no URL. */
    localOnly?: boolean;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<SignOut>;
  /**
   * Finishes a logout with the redirect from the provider's logout page, and sends the revocation that waited for
   * it.
   */
  resume(parameters: {
    /** The URL as the host received it. */
    url: string;
  }, options?: CallOptions): Promise<{
    /** Always true. */
    done: boolean;
  }>;
}

export interface AccountCommands {
  /** Reads the stored data about the account, but never the refresh token. */
  read(parameters?: Record<string, never>, options?: CallOptions): Promise<Account>;
}

export interface DiagnosticsCommands {
  /** Collects what support needs, without secrets: versions, configuration, provider, state, store, last errors. */
  export(parameters?: Record<string, never>, options?: CallOptions): Promise<{
    /** For humans: its members may change with any version. */
    diagnostics: Record<string, unknown>;
  }>;
}

export interface PinCommands {
  /** Protects the account with a PIN. The account stays open in this process. Completes the step pin. */
  set(parameters: {
    /** The new PIN. 4 to 64 bytes. */
    pin: string;
  }, options?: CallOptions): Promise<Record<string, never>>;
  /** Opens the account for this process. */
  unlock(parameters: {
    /** The PIN. 4 to 64 bytes. */
    pin: string;
  }, options?: CallOptions): Promise<PINAnswer>;
  /** Replaces the PIN. */
  change(parameters: {
    /** The current PIN. 4 to 64 bytes. */
    pin: string;
    /** The new PIN. 4 to 64 bytes. */
    newPin: string;
  }, options?: CallOptions): Promise<PINAnswer>;
  /** Removes the PIN. The account is open from then on. */
  remove(parameters: {
    /** The current PIN. 4 to 64 bytes. */
    pin: string;
  }, options?: CallOptions): Promise<PINAnswer>;
}

export interface AccountsCommands {
  /** Lists the names of the accounts in a store. Empty if there is no store yet. */
  list(parameters?: {
    /** A name within the app's own data, not a path. */
    store?: StoreFolder;
  }, options?: CallOptions): Promise<{
    /** Sorted. */
    accounts: string[];
  }>;
  /** Erases an account from a store, for every provider. Sends nothing. An unknown account is no error. */
  remove(parameters: {
    /** A name within the app's own data, not a path. */
    store?: StoreFolder;
    /** The name of the account: one set of tokens in the store. */
    account: string;
  }, options?: CallOptions): Promise<Record<string, never>>;
}

export interface InstallationCommands {
  /** Erases the installation id of a store. The next use makes a new one. A missing store is no error. */
  reset(parameters?: {
    /** A name within the app's own data, not a path. */
    store?: StoreFolder;
  }, options?: CallOptions): Promise<Record<string, never>>;
}

export interface StoreCommands {
  /** Examines a store: owner, permissions, key provider, files, damaged files. Changes nothing. */
  diagnose(parameters?: {
    /** A name within the app's own data, not a path. */
    store?: StoreFolder;
  }, options?: CallOptions): Promise<StoreDiagnosis>;
}

export interface PkceCommands {
  /** Makes a verifier and its S256 challenge (RFC 7636 §4). */
  generate(parameters?: Record<string, never>, options?: CallOptions): Promise<PKCE>;
}

export interface RedirectCommands {
  /** Parses a redirect without verifying it (RFC 6749 §4.1.2, RFC 9207). */
  parse(parameters: {
    /** The URL as the host received it. */
    url: string;
  }, options?: CallOptions): Promise<Redirect>;
  /** Finds which of several configurations a URL belongs to. Reads no store: the URL may still be unsolicited. */
  route(parameters: {
    /** All configurations of the app. */
    configurations: Configuration[];
    /** The URL as the host received it. */
    url: string;
  }, options?: CallOptions): Promise<Route>;
}

export interface LinkCommands {
  /** Parses a link strictly, or refuses it. Repairs nothing. */
  parse(parameters: {
    /** The URL as the host received it. */
    url: string;
  }, options?: CallOptions): Promise<Link>;
}

export interface ExpiryCommands {
  /** Determines whether a token is fresh, due or expired. */
  check(parameters: {
    /** When the token expires. In seconds since 1970-01-01T00:00:00Z. */
    expiresAt: number;
    /** The current time. By default the time of this device's clock. In seconds since 1970-01-01T00:00:00Z. */
    now?: number;
    /** How long before its expiry the token becomes due. In seconds. */
    grace?: number;
    /** How long the token must still live; at most nine tenths of its whole life count. In seconds. */
    minimumLifetime?: number;
    /** The token's total lifetime; at most half of it counts as grace period. In seconds. */
    lifetime?: number;
  }, options?: CallOptions): Promise<Expiry>;
}

export type BeginParameters = Parameters<RegistrationCommands['begin']>[0];

/** One account at one provider. */
export interface EnrollClient {
  readonly id: string;
  readonly platform: PlatformCommands;
  readonly provider: ProviderCommands;
  readonly registration: RegistrationCommands;
  readonly url: UrlCommands;
  readonly token: TokenCommands;
  readonly dpop: DpopCommands;
  readonly identity: IdentityCommands;
  readonly logout: LogoutCommands;
  readonly account: AccountCommands;
  readonly diagnostics: DiagnosticsCommands;
  readonly pin: PinCommands;

  /**
   * Begins a transaction, opens the external browser or the other app, and waits for the outcome. `onBegun` receives the
   * transaction before anything is opened: with kind 'device' it contains the code to show. Abort the signal to report
   * that the user left. Fails as registration.begin and registration.resume do.
   */
  signIn(parameters?: BeginParameters, options?: CallOptions & { onBegun?: (begun: Transaction) => void }): Promise<State>;

  /** Logs out as logout.begin does, and opens the URL that ends the browser's session; `browser` says whether there was a URL. */
  logOut(parameters?: Parameters<LogoutCommands['begin']>[0], options?: CallOptions): Promise<{ browser: boolean }>;

  /** Calls the listener for every event, until you call the returned function. */
  subscribe(listener: (event: EnrollEvent) => void): () => void;
  /** Calls the listener for the events of that name, until you call the returned function. */
  subscribe<Name extends EventName>(
    name: Name, listener: (event: { name: Name } & EventParameters[Name]) => void,
  ): () => void;

  /** Cancels the calls that wait in this client; the tokens stay in the store. A second call does nothing. */
  close(): Promise<void>;
}

export interface OpenOptions {
  configuration: Configuration;
  /** A name within the app's own data, not a path. By default "enroll". */
  store?: string;
  /** The name of the account: one set of tokens in the store. */
  account?: string;
  platform?: Platform;
  /** Whether tokens are renewed in the background, shortly before they are due, until client.close. */
  renewInBackground?: boolean;
  /** Whether calls about the registration wait for platform.ready. */
  waitForPlatform?: boolean;
}

/** The plugin: the global `enroll`, available after the event `deviceready`. */
export interface Enroll {
  readonly system: SystemCommands;
  readonly resource: ResourceCommands;
  readonly accounts: AccountsCommands;
  readonly installation: InstallationCommands;
  readonly store: StoreCommands;
  readonly pkce: PkceCommands;
  readonly redirect: RedirectCommands;
  readonly link: LinkCommands;
  readonly expiry: ExpiryCommands;

  /** For `error instanceof enroll.EnrollError`. */
  readonly EnrollError: abstract new (...unused: never[]) => EnrollError;

  /** Opens one account at one provider. Sends no request. Handles URLs that arrived earlier. */
  open(options: OpenOptions): Promise<EnrollClient>;

  /** Retries URLs that reached the app but could not be handled, for example without a network. */
  retryURLs(): Promise<void>;

  /** Calls the listener for URLs that no open client expects; the listener returns true for a URL that it handles itself. */
  onUnclaimedURL(listener: (url: string) => boolean | void): () => void;
}

declare global {
  const enroll: Enroll;
}
