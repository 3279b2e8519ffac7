// Generated from the manifest of EnrollKit 0.1.0 by `make generate`; do not edit.

/** What the library is. */
export type SystemDescription = {
  /** Its own name. */
  name: 'EnrollKit';
  /** Of the library: major.minor.patch. */
  version: string;
  /** Of the C interface: major × 65536 + minor. */
  abi: number;
  flavour: Flavour;
  commands: string[];
  events: string[];
  /** That can protect a store. */
  keyProviders: string[];
};

/** How the library was built; small: Embedded Swift, without a runtime. */
export type Flavour = 'small' | 'standard';

/** The provider and the client. */
export type Configuration = {
  /** The provider, exactly as it names itself. As discovery_uri, the address of its discovery document will do. */
  issuer?: string;
  /** Another spelling of issuer, never beside it. */
  discovery_uri?: string;
  /** Another spelling of issuer, never beside it. */
  discoveryUri?: string;
  /** The client that the provider registered. */
  clientId?: string;
  /** Another spelling of clientId, never beside it. */
  client_id?: string;
  /** Where the browser comes back to: claimed https, com.example.app:/callback, or http://127.0.0.1/callback. */
  redirectUri?: string;
  /** Another spelling of redirectUri, never beside it. */
  redirect_uri?: string;
  /** Where the browser comes back to after a logout. */
  postLogoutRedirectUri?: string;
  /** Another spelling of postLogoutRedirectUri, never beside it. */
  post_logout_redirect_uri?: string;
  /** Another spelling of postLogoutRedirectUri, never beside it. */
  end_session_redirect_uri?: string;
  /** Another spelling of postLogoutRedirectUri, never beside it. */
  logoutRedirectUri?: string;
  /** Another spelling of postLogoutRedirectUri, never beside it. */
  logout_redirect_uri?: string;
  /** A provider's own logout URL instead of RP-Initiated Logout: auth0 is /v2/logout with returnTo. */
  logoutDialect?: LogoutDialect;
  /** Another spelling of logoutDialect, never beside it. */
  logout_dialect?: LogoutDialect;
  /** What the sign-in after a logout or retry asks for. login by default. */
  promptAfterLogout?: PromptAfterLogout;
  /** Another spelling of promptAfterLogout, never beside it. */
  prompt_after_logout?: PromptAfterLogout;
  /** Endpoints of a provider without discovery, instead of asking it. */
  endpoints?: Endpoints;
  /**
   * Authorize requests go to the provider by POST, the browser carries only their name (RFC 9126). By default auto:
   * where the provider has an endpoint for them.
   */
  pushedRequests?: FeaturePolicy;
  /** Another spelling of pushedRequests, never beside it. */
  pushed_requests?: FeaturePolicy;
  /**
   * Tokens are bound to a key of this client, and each request that carries one needs a proof from dpop.proof (RFC
   * 9449). By default auto: where the provider announces ES256. always refuses Bearer tokens; never is for hosts
   * that send nothing else.
   */
  dpop?: FeaturePolicy;
  /** Algorithms that id_tokens may be signed with. All of these by default. */
  idTokenAlgorithms?: SignatureAlgorithm[];
  /** Another spelling of idTokenAlgorithms, never beside it. */
  id_token_algorithms?: SignatureAlgorithm[];
  /** What is asked for, as a list or separated by spaces. openid profile offline_access by default. */
  scopes?: string | string[];
  /** Extra parameters of every authorize request. The protocol's own names are refused. */
  authorizeParameters?: Record<string, string>;
  /** Another spelling of authorizeParameters, never beside it. */
  authorize_parameters?: Record<string, string>;
  /** Seconds before its end at which an access token is renewed. 60 by default. */
  grace?: number;
  /** Seconds that a sign-in may take. 600 by default. */
  transactionLifetime?: number;
  /** Another spelling of transactionLifetime, never beside it. */
  transaction_lifetime?: number;
  /** Seconds that the link in an e-mail is waited for. 86400 by default. */
  emailWait?: number;
  /** Another spelling of emailWait, never beside it. */
  email_wait?: number;
  /** Whether the user confirms the profile before tokens count. True by default. */
  confirmation?: boolean;
  /** Adds the scope email and asks for a verified address. False by default. */
  requireVerifiedEmail?: boolean;
  /** Another spelling of requireVerifiedEmail, never beside it. */
  require_verified_email?: boolean;
  /** How a registration begins. signIn by default. */
  registration?: RegistrationStart;
  /** What an activation link leads to. authorize by default. */
  activation?: Activation;
  /**
   * The page that openPage opens, such as https://id.example/welcome/{activationToken}. The activation link itself
   * by default.
   */
  welcomePage?: string;
  /** Another spelling of welcomePage, never beside it. */
  welcome_page?: string;
  /** Activation links that are accepted, such as https://app.example/welcome/{activationToken}. */
  appLinks?: string[];
  /** Another spelling of appLinks, never beside it. */
  app_links?: string[];
  /** The link that leads back into a registration. */
  fallbackUri?: string;
  /** Another spelling of fallbackUri, never beside it. */
  fallback_uri?: string;
  /** False where the platform is no native app: the stand-in token is used. */
  native?: boolean;
  /** The access token of a platform that is no native app. */
  standInToken?: string;
  /** Another spelling of standInToken, never beside it. */
  stand_in_token?: string;
  /** Asked whether a registration is known. */
  registrationCheckUri?: string;
  /** Another spelling of registrationCheckUri, never beside it. */
  registration_check_uri?: string;
  /**
   * Whether it is asked before B, C and H, and has to know the account. False by default: it is asked before H
   * alone, and only a contradiction counts.
   */
  requireCheck?: boolean;
  /** Another spelling of requireCheck, never beside it. */
  require_check?: boolean;
  /** Told the confirmed profile. */
  profileUpdateUri?: string;
  /** Another spelling of profileUpdateUri, never beside it. */
  profile_update_uri?: string;
  /** Told every failure, without secrets. */
  errorReportUri?: string;
  /** Another spelling of errorReportUri, never beside it. */
  error_report_uri?: string;
  /** Ways to register that the host presents. */
  choices?: ConfiguredChoice[];
  /** Registration with another app's help. */
  app2app?: App2App;
  /** Another spelling of app2app, never beside it. */
  anotherApp?: App2App;
  /** Another spelling of app2app, never beside it. */
  another_app?: App2App;
  /** A back end that signs in on the app's behalf. */
  bff?: BFF;
  /** Another spelling of bff, never beside it. */
  backend?: BFF;
  /** Which provider's way of passwordless sign-in is spoken. */
  passwordless?: PasswordlessDialect;
  /**
   * What the provider calls the connection that the user chose: connection, idp, kc_idp_hint, provider, … connection
   * by default.
   */
  connectionParameter?: string;
  /** Another spelling of connectionParameter, never beside it. */
  connection_parameter?: string;
  /** What the page shows that a loopback redirect leaves in the browser. */
  returnPage?: ReturnPage;
  /** Another spelling of returnPage, never beside it. */
  return_page?: ReturnPage;
  /** Lets a provider on this machine be spoken to by http. False by default. */
  allowLoopbackHTTP?: boolean;
  /** Another spelling of allowLoopbackHTTP, never beside it. */
  allow_loopback_http?: boolean;
  /** Another spelling of allowLoopbackHTTP, never beside it. */
  allowLoopbackHttp?: boolean;
  /** A PEM file with the authorities to trust instead of the system's. */
  caFile?: string;
  /** Another spelling of caFile, never beside it. */
  ca_file?: string;
};

/** A provider's own way to log out. */
export type LogoutDialect = 'auth0';

/** What the sign-in after a logout asks for. */
export type PromptAfterLogout = 'login' | 'select_account';

/** Endpoints of a provider without discovery. */
export type Endpoints = {
  /** RFC 6749 §3.1. */
  authorizationEndpoint?: string;
  /** Another spelling of authorizationEndpoint, never beside it. */
  authorization_endpoint?: string;
  /** RFC 6749 §3.2. */
  tokenEndpoint?: string;
  /** Another spelling of tokenEndpoint, never beside it. */
  token_endpoint?: string;
  /** The provider's keys, RFC 7517. */
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
  /** Whether every answer carries iss (RFC 9207); its absence is then refused. False by default. */
  authorizationResponseIssParameterSupported?: boolean;
  /** Another spelling of authorizationResponseIssParameterSupported, never beside it. */
  authorization_response_iss_parameter_supported?: boolean;
};

/** When something that a provider may support is used. */
export type FeaturePolicy = 'auto' | 'always' | 'never';

/** An algorithm that signs id_tokens. */
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
  | 'EdDSA';

/** How a registration begins. */
export type RegistrationStart = 'signIn' | 'promptCreate' | RegistrationGateway;

/** A registration that begins at a gateway's own page. */
export type RegistrationGateway = {
  /** The gateway's own page. */
  registrationUri?: string;
  /** Another spelling of registrationUri, never beside it. */
  registration_uri?: string;
};

/** What an activation link leads to. */
export type Activation = 'authorize' | 'openPage';

/** A way to register that the host presents. */
export type ConfiguredChoice = {
  /** The host's word: google, email, … */
  kind: string;
  /** The provider's name for the connection. */
  connection?: string;
  /** What the user reads. */
  label: string;
  /** What the user reads beside it. */
  guidance?: string;
};

/** Registration with another app's help. */
export type App2App = {
  /** Asked first. */
  initUri?: string;
  /** Another spelling of initUri, never beside it. */
  init_uri?: string;
  /** Asked for tokens at the end. */
  completeUri?: string;
  /** Another spelling of completeUri, never beside it. */
  complete_uri?: string;
  /** What the gateway calls its fields. */
  fields?: App2AppFields;
  /** Beginnings of links that may be opened, each up to the end of a whole host or path segment. */
  allowedLinks?: string[];
  /** Another spelling of allowedLinks, never beside it. */
  allowed_links?: string[];
  /** Whether the user sets a PIN (step pin, ended by pin.set) before the profile is shown. False by default. */
  requirePin?: boolean;
  /** Another spelling of requirePin, never beside it. */
  require_pin?: boolean;
};

/** What the gateway calls its fields. */
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

/** A back end that signs in on the app's behalf. */
export type BFF = {
  /** Where its /v1/auth begins. */
  base: string;
  /** Takes the session token out of the redirect itself, where others can see it. False by default. */
  dangerouslyAcceptTokenInRedirect?: boolean;
  /** Another spelling of dangerouslyAcceptTokenInRedirect, never beside it. */
  dangerously_accept_token_in_redirect?: boolean;
};

/** A provider's way of passwordless sign-in. */
export type PasswordlessDialect = 'auth0';

/** What the page after a loopback redirect shows. */
export type ReturnPage = {
  /** The app's name, above the rest. */
  appName?: string;
  /** Another spelling of appName, never beside it. */
  app_name?: string;
  /** A line of the app's own, in the page's language. */
  text?: string;
  /** The language of the page's own words. en by default. */
  language?: ReturnPageLanguage;
  /** The app's colour, such as #0b6e4f, for the line above the page. */
  color?: string;
  /** Another spelling of color, never beside it. */
  colour?: string;
  /**
   * The page's background; its text is then black or white, whichever is easier to read. The browser's own by
   * default.
   */
  backgroundColor?: string;
  /** Another spelling of backgroundColor, never beside it. */
  background_color?: string;
  /** Another spelling of backgroundColor, never beside it. */
  backgroundColour?: string;
  /** A claimed https or private-scheme link that leads back into the app. */
  link?: string;
};

/** A language of the return page. */
export type ReturnPageLanguage = 'en' | 'de' | 'fr' | 'es' | 'it' | 'nl' | 'pt';

/** An absolute path of a directory. The daemon's default: $XDG_DATA_HOME/enrollkit. */
export type StoreFolder = string;

/** What the host says about the device. */
export type Platform = {
  /** False: no external browser is to be had, the stand-in token is used. */
  native?: boolean;
  /** The host's word for the kind of device. */
  type?: string;
  /** Of the screen, in pixels. */
  width?: number;
  /** Of the screen, in pixels. */
  height?: number;
  /** The host's own version. */
  appVersion?: string;
  /** An id that the host has for the device. */
  deviceId?: string;
};

/** Where a registration stands; the documentation of the states has the letters. */
export type State =
  | {
    state: 'starting';
  }
  | {
    state: 'unregistered';
    letter: 'D';
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
    letter: 'G';
    /** Whose tokens they are. */
    profile: Claims;
  }
  | {
    state: 'active';
    /** notNative, valid, renewed, confirmed. */
    letter: 'A' | 'B' | 'C' | 'H';
    reason: ActiveReason;
  }
  | RenewalFailed
  | RegistrationFailed;

/** A configured way to register. */
export type RegistrationChoice = {
  /** The host's word: google, email, … */
  kind: string;
  /** The provider's name for the connection. */
  connection?: string;
  /** What the user reads. */
  label: string;
  /** What the user reads beside it. */
  guidance?: string;
};

/** Names a transaction. */
export type TransactionID = string;

/** What a transaction under way waits for. */
export type Step = 'browser' | 'emailPending' | 'codePending' | 'otherApp' | 'exchanging' | 'pin';

/** Claims about the user (OpenID Connect Core §5.1). */
export type Claims = Record<string, unknown>;

/** How a registration became active. */
export type ActiveReason = 'notNative' | 'valid' | 'renewed' | 'confirmed';

/** The token was due and could not be renewed. */
export type RenewalFailed = {
  state: 'failed';
  letter: 'E';
  reason: 'renewal';
  error: ErrorDetail;
  remedy: Remedy;
  /** The access token has not expired yet. */
  tokenUsable: boolean;
};

/** Why a call failed; no text in it holds a secret. */
export type ErrorDetail = {
  status: Status;
  /** The reason as the C status. */
  code: number;
  blame: Blame;
  /** Whether the same call may succeed later. */
  retryable: boolean;
  /** What was expected and what came, for a log; never a secret. */
  message: string;
  /** The configuration key or parameter at fault. */
  field?: string;
  /** Status of the response that caused it. */
  httpStatus?: number;
  /** The provider's own error code (RFC 6749 §5.2). */
  oauthError?: string;
  /** How long the server asked us to wait. In seconds. */
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

/** What helps after a failed renewal. */
export type Remedy = 'retry' | 'wait' | 'registerAgain';

/** The browser, link, app or code step failed. */
export type RegistrationFailed = {
  state: 'failed';
  letter: 'F';
  reason: 'registration';
  error: ErrorDetail;
};

/** What kind of transaction to begin. */
export type TransactionKind = 'signIn' | 'register' | 'passwordless' | 'app2app' | 'bff' | 'device';

/** How to begin a transaction. */
export type BeginOptions = {
  /** none, login, consent, select_account or create. */
  prompt?: string;
  /** Who is likely to sign in. */
  loginHint?: string;
  /** The user must have signed in at most so long ago. In seconds. */
  maxAge?: number;
  /** Authentication classes, the best first. */
  acrValues?: string[];
  /** The best first. */
  uiLocales?: string[];
  /** Whose session prompt=none is about. */
  idTokenHint?: string;
  /** The provider's name for the connection that the user chose; bff: its name for the provider, required. */
  connection?: string;
  /** passwordless: where the code or link is sent. */
  email?: string;
  /** passwordless: where the code is sent, E.164. */
  phoneNumber?: string;
  message?: PasswordlessMessage;
};

/** What a passwordless sign-in sends to the user. */
export type PasswordlessMessage = 'code' | 'link';

/** A transaction that has begun. */
export type Transaction = {
  transaction: TransactionID;
  action: Action;
  /** As it was sent: with a loopback redirect, its port. Absent when nothing redirects. */
  redirectUri?: string;
  /** When the transaction ends by itself. In seconds since 1970-01-01T00:00:00Z. */
  expiresAt: number;
  /** False for a loopback redirect: its listener dies with the process. */
  survivesProcess: boolean;
};

/** What the host has to do so that a transaction goes on. */
export type Action =
  | {
    type: 'openURL';
    /** Holds the state of the transaction. */
    url: string;
  }
  | {
    type: 'enterCode';
    /** Where the code was sent. */
    recipient: string;
  }
  | {
    type: 'awaitLink';
    /** Where the link was sent. */
    recipient: string;
  }
  | {
    type: 'openOtherApp';
    /** A link of another app. */
    url: string;
  }
  | {
    type: 'showDeviceCode';
    /** What the user types. */
    userCode: string;
    /** Where the user types it. */
    verificationUri: string;
    /** With the code in it, for a QR code. */
    verificationUriComplete?: string;
  };

/** What a link led to. */
export type HandledLink =
  | {
    kind: 'begun';
    transaction: TransactionID;
    action: Action;
    /** As it was sent: with a loopback redirect, its port. Absent when nothing redirects. */
    redirectUri?: string;
    /** When the transaction ends by itself. In seconds since 1970-01-01T00:00:00Z. */
    expiresAt: number;
    /** False for a loopback redirect: its listener dies with the process. */
    survivesProcess: boolean;
  }
  | Unsolicited
  | LinkUsed
  | LinkExpired;

/** No transaction waits for the URL; nothing happened. */
export type Unsolicited = {
  kind: 'unsolicited';
  /** What may be offered to the user, the best first. */
  offers?: LinkOffer[];
};

/** What may be offered to a user whose link led nowhere: a transaction of that kind. */
export type LinkOffer = 'signIn' | 'register';

/** The link came before, or a fallback was taken before; nothing happened. */
export type LinkUsed = {
  kind: 'linkUsed';
  /** What may be offered to the user, the best first. */
  offers: LinkOffer[];
};

/** What waited for the link has reached its deadline; nothing happened. */
export type LinkExpired = {
  kind: 'linkExpired';
  /** What may be offered to the user, the best first. */
  offers: LinkOffer[];
};

/** A logout that forgot the device. */
export type Deregistration = {
  state: State;
  /** Ends the provider's session in the browser, as from logout.begin; absent when there is none. */
  url?: string;
  providerTold?: ProviderTold;
  /** Why it is not possible to tell the provider. */
  reason?: string;
};

/**
 * Whether the provider knows of a sign-out: told, queued (it is told later, for at most 7 days), notPossible (its
 * tokens work until they end by themselves). Absent if there was nothing to tell.
 */
export type ProviderTold = 'told' | 'queued' | 'notPossible';

/** What a URL that reached the app turned out to be. */
export type HandledURL =
  | Redirected
  | LoggedOut
  | {
    kind: 'begun';
    transaction: TransactionID;
    action: Action;
    /** As it was sent: with a loopback redirect, its port. Absent when nothing redirects. */
    redirectUri?: string;
    /** When the transaction ends by itself. In seconds since 1970-01-01T00:00:00Z. */
    expiresAt: number;
    /** False for a loopback redirect: its listener dies with the process. */
    survivesProcess: boolean;
  }
  | Unsolicited
  | LinkUsed
  | LinkExpired;

/** It was a redirect. */
export type Redirected = {
  kind: 'registration';
  state: State;
};

/** It was the logout callback; the logout is finished. */
export type LoggedOut = {
  kind: 'logout';
};

/** What a call for a valid access token returns. */
export type AccessOutcome =
  | {
    outcome: 'valid';
    /** For the Authorization header or a form body, nowhere else. */
    accessToken: string;
    /** As the server spelt it: Bearer, DPoP. */
    tokenType: string;
    /** By this device's clock; absent for a stand-in token, which has no end. In seconds since 1970-01-01T00:00:00Z. */
    expiresAt?: number;
  }
  | {
    outcome: 'stale';
    /** For the Authorization header or a form body, nowhere else. */
    accessToken: string;
    /** As the server spelt it: Bearer, DPoP. */
    tokenType: string;
    /** By this device's clock; absent for a stand-in token, which has no end. In seconds since 1970-01-01T00:00:00Z. */
    expiresAt?: number;
    /** One word or a short text, for a log. */
    reason: string;
    error: ErrorDetail;
  }
  | {
    outcome: 'expired';
    /** Of the first failure. In seconds since 1970-01-01T00:00:00Z. */
    offlineSince?: number;
    /** Until another try makes sense. In seconds. */
    retryAfter?: number;
    /** One word or a short text, for a log. */
    reason: string;
    error: ErrorDetail;
  }
  | {
    outcome: 'rejected';
    /** One word or a short text, for a log. */
    reason: string;
    error: ErrorDetail;
  }
  | {
    outcome: 'reauthenticate';
    /** One word or a short text, for a log. */
    reason: string;
  }
  | {
    outcome: 'storeLocked';
  }
  | {
    outcome: 'busy';
  };

/** Whether the provider knows of a revocation. */
export type Revocation = {
  providerTold?: ProviderTold;
  /** Why it is not possible to tell the provider. */
  reason?: string;
};

/** One of the session's tokens, which is not handed out. */
export type TokenKind = 'accessToken' | 'refreshToken';

/** What the provider says of a token. */
export type Introspection = {
  /** Whether it works. */
  active: boolean;
  /** All that was told, RFC 7662 §2.2. */
  claims: Claims;
};

/** How a logout went on. */
export type SignOut = {
  /** To be opened in the external browser; absent when there is none. */
  url?: string;
  providerTold?: ProviderTold;
  /** Why it is not possible to tell the provider. */
  reason?: string;
};

/** What is kept about the account; never the refresh token. */
export type Account = {
  /** The proven claims about the user. */
  profile?: Claims;
  /** As the provider signed it. */
  idToken?: string;
  /** As it is kept, due or not; token.access gives one that works. */
  accessToken?: string;
  /** When the access token ends. In seconds since 1970-01-01T00:00:00Z. */
  expiresAt?: number;
  registrationType?: RegistrationType;
};

/** How the account was registered; absent for other ways. */
export type RegistrationType = 'SOCIAL' | 'PASSWORDLESS';

/** The answer to a PIN. */
export type PINAnswer = {
  outcome: PINOutcome;
  /** Before the account is erased. */
  triesLeft: number;
  /** Until the next try is looked at. In seconds. */
  retryAfter: number;
};

/**
 * Whether a PIN was right: unlocked; wrong; tooSoon (not looked at); erased (it was the last try, the account is
 * gone).
 */
export type PINOutcome = 'unlocked' | 'wrong' | 'tooSoon' | 'erased';

/** How a store is; without secrets. */
export type StoreDiagnosis =
  | {
    /** The folder. */
    store: string;
    /** False: there is no such folder. */
    exists: boolean;
  }
  | {
    /** The folder. */
    store: string;
    /** True. */
    exists: boolean;
    /** The user's number. */
    owner: number;
    /** Octal. */
    permissions: string;
    /** That guard the key; none before first use. */
    keyProviders: string[];
    keyChoice?: KeyDecision;
    /** How many there are, readable or not. */
    accounts: number;
    /** Damaged files that were set aside. */
    setAside: number;
    /** None while the key is not to be had. */
    files: StoredFile[];
    /** What is wrong with the store. */
    problem?: ErrorDetail;
  };

/** Who would get the key of a new store, and why. */
export type KeyDecision = {
  /** A provider's name; none while the best is locked. */
  provider?: string;
  /** Why that one. */
  reason: string;
  /** In the order of preference. */
  candidates: KeyCandidate[];
};

/** A key provider, and whether it is available. */
export type KeyCandidate = {
  /** A provider's name. */
  provider: string;
  presence: KeyPresence;
  /** Why it is not present. */
  reason?: string;
};

/** Whether a key provider is available. */
export type KeyPresence = 'present' | 'locked' | 'absent';

/** A sealed file of a store. */
export type StoredFile = {
  /** In the folder; tells no account's name. */
  name: string;
  kind: StoredFileKind;
  /** It was damaged, and had this name: renamed back it is used again. */
  setAsideFrom?: string;
  /** Grows by one with every save; decimal. */
  generation?: string;
  /** True: only its PIN opens the account. */
  pin?: boolean;
  /** As in diagnostics.export: for people, without secrets. */
  account?: Record<string, unknown>;
  /** Of the outbox: what servers still have to be told. */
  entries?: number;
  /** What is wrong with the file. */
  problem?: ErrorDetail;
};

/** What a sealed file holds. */
export type StoredFileKind = 'account' | 'outbox' | 'installation' | 'provider';

/** A PKCE verifier and its challenge (RFC 7636 §4). */
export type PKCE = {
  /** A secret, 43 characters of base64url. */
  codeVerifier: string;
  /** Its SHA-256, base64url. */
  codeChallenge: string;
  /** Always S256. */
  codeChallengeMethod: 'S256';
};

/** A redirect as it was read, not believed. */
export type Redirect = {
  /** The authorization code. */
  code?: string;
  /** Whose transaction it claims to be. */
  state?: string;
  /** Who claims to answer. */
  iss?: string;
  /** The provider's error code. */
  error?: string;
  /** The provider's words for the developer. */
  errorDescription?: string;
};

/** Which configuration a URL belongs to. */
export type Route = {
  /** The place of its owner in the list; absent when it has none. */
  index?: number;
  kind?: Ownership;
};

/** What a URL is to the configuration that owns it. */
export type Ownership = 'redirect' | 'logout' | 'fallback' | 'activation';

/** A link that the allow-list takes. */
export type Link = {
  kind: LinkKind;
  /** In lower case. */
  scheme: string;
  /** An IPv6 address keeps its brackets. */
  host?: string;
  /** Where the link names one. */
  port?: number;
  /** As it came. */
  path: string;
  /** As it came, without the question mark. */
  query?: string;
  /** A fragment was dropped unread. */
  hadFragment: boolean;
};

/** What may be done with a link. */
export type LinkKind = 'https' | 'loopbackHTTP' | 'privateScheme';

/** In which band of its life a token is. */
export type Expiry = {
  band: Band;
  /** Until it ends; negative once it has ended. In seconds. */
  secondsLeft: number;
};

/** The part of its life that a token is in: hand it out; renew it; renew it or fail. */
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

/** What each event carries beside its `name`. */
export interface EventParameters {
  /** The registration is in another state. */
  'registration.changed': {
    /** What client.open gave. */
    client: string;
    state: State;
  };
  /** Raised once, when the first state is settled: the host may hide its splash screen. */
  'registration.settled': {
    /** What client.open gave. */
    client: string;
    state: State;
  };
  /** There are new tokens, and they are stored. */
  'token.renewed': {
    /** What client.open gave. */
    client: string;
    /** When the access token ends. In seconds since 1970-01-01T00:00:00Z. */
    expiresAt: number;
  };
  /** A renewal failed; nothing is lost by it. */
  'token.renewalFailed': {
    /** What client.open gave. */
    client: string;
    error: ErrorDetail;
  };
  /** The logout callback came back. */
  'logout.finished': {
    /** What client.open gave. */
    client: string;
  };
  /** A failure that the user may have to hear of. */
  'error.reported': {
    /** What client.open gave. */
    client: string;
    error: ErrorDetail;
    /** For the host's own words: error. and the reason's name. */
    messageKey: string;
    helps: Help;
  };
  /** The plugin's own: a URL that reached the app was this client's. */
  'url.handled': { client: string; outcome: HandledURL; error?: undefined } | { client: string; outcome?: undefined; error: EnrollError };
}

export type EventName = keyof EventParameters;

export type EnrollEvent = { [Name in EventName]: { name: Name } & EventParameters[Name] }[EventName];

export interface SystemCommands {
  /** What this library is: versions, flavour, commands, key providers. */
  describe(parameters?: Record<string, never>, options?: CallOptions): Promise<SystemDescription>;
}

export interface PlatformCommands {
  /** Says that the host's platform is ready (Cordova's deviceready). */
  ready(parameters?: Record<string, never>, options?: CallOptions): Promise<Record<string, never>>;
}

export interface RegistrationCommands {
  /** Where the registration stands; asking starts it. */
  state(parameters?: {
    /** Answer once the state has settled. A sign-in that an earlier run left in the browser is waited for, too. */
    wait?: boolean;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Begins a transaction and says what the host must do now. */
  begin(parameters?: {
    kind?: TransactionKind;
    /** Instead of the configured ones. */
    scopes?: string | string[];
    options?: BeginOptions;
    /** The host's own authorize parameters; the protocol's names are refused. */
    parameters?: Record<string, string>;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<Transaction>;
  /** Takes the redirect back and carries its transaction to its end. */
  resume(parameters: {
    /** As it reached the host. */
    url: string;
    /** Whose return it is; needed only for one without state when several are pending. */
    transaction?: TransactionID;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Takes an activation or fallback link, and says what the host must do now. */
  handleLink(parameters: {
    /** As it reached the host. */
    url: string;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<HandledLink>;
  /**
   * Waits until a transaction is settled: by its loopback redirect, by another call or another process, or, with a
   * device code, by the user elsewhere.
   */
  awaitOutcome(parameters: {
    transaction: TransactionID;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Takes the one-time code that the user typed. */
  submitCode(parameters: {
    transaction: TransactionID;
    /** As the user typed it. */
    code: string;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** The user's yes to the profile: G to H, after the verified address and the registration check that are required. */
  confirm(parameters?: {
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Another try: provisional tokens are revoked and cleared, an earlier confirmed set survives. */
  retry(parameters?: {
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** The user left the browser: a hint, a late valid redirect still wins; a registration waits for its e-mail's link. */
  cancel(parameters?: {
    /** Which one; without it, all. */
    transaction?: TransactionID;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** The other app's link could not be opened: its transaction is over, with F. */
  otherAppMissing(parameters: {
    transaction: TransactionID;
  }, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** Empties local state alone; no server is told. */
  clear(parameters?: Record<string, never>, options?: CallOptions): Promise<{
    state: State;
  }>;
  /** A logout that forgets the device too: pending transactions are cleared, the installation id is reset. */
  deregister(parameters?: {
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<Deregistration>;
}

export interface UrlCommands {
  /** One door for every URL that reaches an app. */
  handle(parameters: {
    /** As it reached the host. */
    url: string;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<HandledURL>;
}

export interface TokenCommands {
  /** A valid access token, renewed when due. One renewal serves all who ask. */
  access(parameters?: {
    /** How long the token must still live. In seconds. */
    minimumLifetime?: number;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<AccessOutcome>;
  /**
   * Renews now, whatever the token's age: after a resource server refused it. A pause that the provider asked for
   * holds.
   */
  refresh(parameters?: {
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<AccessOutcome>;
  /** Tells the provider to forget the session's tokens, and forgets them here. */
  revoke(parameters?: {
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<Revocation>;
  /** What the provider says of one of the session's tokens (RFC 7662). */
  introspect(parameters?: {
    token?: TokenKind;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<Introspection>;
}

export interface DpopCommands {
  /** A proof for one request of the host's that carries a token of type DPoP (RFC 9449); asks nobody. */
  proof(parameters: {
    /** As it is sent: GET. */
    method: string;
    /** As it reached the host. */
    url: string;
    /** What the server demanded; without it, the last one of that server. */
    nonce?: string;
    /** The token that the request carries; without it, the present one. */
    accessToken?: string;
  }, options?: CallOptions): Promise<{
    /** For the header DPoP. */
    proof: string;
  }>;
}

export interface IdentityCommands {
  /** The proven claims about the user, as they are kept. */
  profile(parameters?: Record<string, never>, options?: CallOptions): Promise<{
    /** OpenID Connect Core §5.1. */
    claims: Claims;
  }>;
  /** The claims that the provider tells now, discarded unless they are about the same user. */
  userinfo(parameters?: {
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** OpenID Connect Core §5.1. */
    claims: Claims;
  }>;
}

export interface LogoutCommands {
  /** Erases the tokens here first, tells the provider, and gives the URL that ends its session in the browser. */
  begin(parameters?: {
    /** Nothing is sent, no URL is given. */
    localOnly?: boolean;
    /** How long the call may take. In seconds. */
    timeout?: number;
  }, options?: CallOptions): Promise<SignOut>;
  /** Takes the browser's answer to that URL back: the logout is finished. */
  resume(parameters: {
    /** As it reached the host. */
    url: string;
  }, options?: CallOptions): Promise<{
    /** Always true. */
    done: boolean;
  }>;
}

export interface AccountCommands {
  /** What is kept about the account; never the refresh token. */
  read(parameters?: Record<string, never>, options?: CallOptions): Promise<Account>;
}

export interface DiagnosticsCommands {
  /** All that support needs, without secrets: versions, configuration, provider, state, store, last errors. */
  export(parameters?: Record<string, never>, options?: CallOptions): Promise<{
    /** For people: its members may change with any version. */
    diagnostics: Record<string, unknown>;
  }>;
}

export interface PinCommands {
  /** Guards what is kept of the account with a PIN; it stays open in this process. Ends the step pin. */
  set(parameters: {
    /** The new PIN. 4 to 64 bytes. */
    pin: string;
  }, options?: CallOptions): Promise<Record<string, never>>;
  /** Opens the account in this process. */
  unlock(parameters: {
    /** The PIN. 4 to 64 bytes. */
    pin: string;
  }, options?: CallOptions): Promise<PINAnswer>;
  /** Replaces the PIN. */
  change(parameters: {
    /** The present one. 4 to 64 bytes. */
    pin: string;
    /** The new one. 4 to 64 bytes. */
    newPin: string;
  }, options?: CallOptions): Promise<PINAnswer>;
  /** Takes the PIN away; the account is open from then on. */
  remove(parameters: {
    /** The present one. 4 to 64 bytes. */
    pin: string;
  }, options?: CallOptions): Promise<PINAnswer>;
}

export interface AccountsCommands {
  /** Names of the accounts in a store; none where there is no store yet. */
  list(parameters?: {
    /** A name within the app's own data, not a path. */
    store?: StoreFolder;
  }, options?: CallOptions): Promise<{
    /** Sorted. */
    accounts: string[];
  }>;
  /** Erases an account from a store, at every provider; no server is told. Removing an unknown one is no error. */
  remove(parameters: {
    /** A name within the app's own data, not a path. */
    store?: StoreFolder;
    /** Names one set of tokens. */
    account: string;
  }, options?: CallOptions): Promise<Record<string, never>>;
}

export interface InstallationCommands {
  /** Forgets the installation id of a store: the next use makes another. No store, no error. */
  reset(parameters?: {
    /** A name within the app's own data, not a path. */
    store?: StoreFolder;
  }, options?: CallOptions): Promise<Record<string, never>>;
}

export interface StoreCommands {
  /** How a store is: owner, permissions, key provider and why, each file, set-aside ones. Changes nothing. */
  diagnose(parameters?: {
    /** A name within the app's own data, not a path. */
    store?: StoreFolder;
  }, options?: CallOptions): Promise<StoreDiagnosis>;
}

export interface PkceCommands {
  /** A verifier and its challenge, S256 (RFC 7636 §4). */
  generate(parameters?: Record<string, never>, options?: CallOptions): Promise<PKCE>;
}

export interface RedirectCommands {
  /** Reads a redirect without believing it (RFC 6749 §4.1.2, RFC 9207). */
  parse(parameters: {
    /** As it reached the host. */
    url: string;
  }, options?: CallOptions): Promise<Redirect>;
  /** Which of several configurations a URL belongs to. Looks at no store: an owned URL may still be unsolicited. */
  route(parameters: {
    /** Of all that the app has. */
    configurations: Configuration[];
    /** As it reached the host. */
    url: string;
  }, options?: CallOptions): Promise<Route>;
}

export interface LinkCommands {
  /** Reads a link by the allow-list of R9, or refuses it; nothing is repaired. */
  parse(parameters: {
    /** As it reached the host. */
    url: string;
  }, options?: CallOptions): Promise<Link>;
}

export interface ExpiryCommands {
  /** In which band of its life a token is: fresh, due or expired. */
  check(parameters: {
    /** When the token ends. In seconds since 1970-01-01T00:00:00Z. */
    expiresAt: number;
    /** Now; without it, this device's clock. In seconds since 1970-01-01T00:00:00Z. */
    now?: number;
    /** How long before its end it is due. In seconds. */
    grace?: number;
    /** How long the token must still live. In seconds. */
    minimumLifetime?: number;
    /** Its whole life: at most half of it counts as grace period. In seconds. */
    lifetime?: number;
  }, options?: CallOptions): Promise<Expiry>;
}

export type BeginParameters = Parameters<RegistrationCommands['begin']>[0];

/** One account at one provider. */
export interface EnrollClient {
  readonly id: string;
  readonly platform: PlatformCommands;
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
   * Begins a transaction, opens the external browser or the other app, and waits for its end. `onBegun` gets the
   * transaction before anything is opened: with kind 'device' it has the code to show. Aborting the signal tells the
   * library that the user left. Fails as registration.begin and registration.resume do.
   */
  signIn(parameters?: BeginParameters, options?: CallOptions & { onBegun?: (begun: Transaction) => void }): Promise<State>;

  /** Logs out as logout.begin does, and opens the URL that ends the browser's session; `browser` says whether there was one. */
  logOut(parameters?: Parameters<LogoutCommands['begin']>[0], options?: CallOptions): Promise<{ browser: boolean }>;

  /** Tells the listener every event, until the function that is returned was called. */
  subscribe(listener: (event: EnrollEvent) => void): () => void;
  /** Tells the listener the events of that name, until the function that is returned was called. */
  subscribe<Name extends EventName>(
    name: Name, listener: (event: { name: Name } & EventParameters[Name]) => void,
  ): () => void;

  /** Stops what waits in this client; the tokens stay in the store. Closing twice is no error. */
  close(): Promise<void>;
}

export interface OpenOptions {
  configuration: Configuration;
  /** A name within the app's own data, not a path. By default "enroll". */
  store?: string;
  /** Names one set of tokens. */
  account?: string;
  platform?: Platform;
  /** Tokens are renewed a little before they are due, whether anybody asks or not, until client.close. */
  renewInBackground?: boolean;
  /** Calls that ask for the registration wait until platform.ready. */
  waitForPlatform?: boolean;
}

/** The plugin: `enroll`, a global, once the event `deviceready` came. */
export interface Enroll {
  readonly system: SystemCommands;
  readonly accounts: AccountsCommands;
  readonly installation: InstallationCommands;
  readonly store: StoreCommands;
  readonly pkce: PkceCommands;
  readonly redirect: RedirectCommands;
  readonly link: LinkCommands;
  readonly expiry: ExpiryCommands;

  /** For `error instanceof enroll.EnrollError`. */
  readonly EnrollError: abstract new (...unused: never[]) => EnrollError;

  /** Opens one account at one provider. Reads no network. URLs that came before are looked at now. */
  open(options: OpenOptions): Promise<EnrollClient>;

  /** Looks once more at URLs that reached the app and could not be followed up, for want of a network, say. */
  retryURLs(): Promise<void>;

  /** Tells the listener the URLs that no open client asked for; it answers true for one that it takes as its own. */
  onUnclaimedURL(listener: (url: string) => boolean | void): () => void;
}

declare global {
  const enroll: Enroll;
}
