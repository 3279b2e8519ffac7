// Generated from the manifest of EnrollKit 0.1.0 by bindings/cordova/types; do not edit.

/** Why something failed, by name. */
export type ErrorStatus =
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

/** Whose fault a failure is. */
export type Blame = 'caller' | 'host' | 'user' | 'server' | 'network' | 'internal';

/** Why something failed, as a value. */
export type ErrorDetail = {
  /** The reason by name. */
  status: ErrorStatus;
  /** The reason as the C status. */
  code: number;
  /** Whose fault it is. */
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
  /** Seconds that the server asked us to wait. */
  retryAfter?: number;
};

/** Where the registration stands (letters A to H as documented). */
export type State =
  | {
    state: 'starting';
  }
  | {
    state: 'unregistered';
    letter: 'D';
    /** The configured ways to register. */
    choices?: Array<{
      /** The host's word: google, email, … */
      kind: string;
      /** The provider's name for the connection. */
      connection?: string;
      /** What the user reads. */
      label: string;
      /** What the user reads beside it. */
      guidance?: string;
    }>;
  }
  | {
    state: 'authenticating';
    /** Names the transaction. */
    transaction: string;
    /** What the transaction waits for. */
    step: 'browser' | 'emailPending' | 'codePending' | 'otherApp' | 'exchanging' | 'pin';
  }
  | {
    state: 'awaitingConfirmation';
    letter: 'G';
    /** Whose tokens they are. */
    profile: Record<string, unknown>;
  }
  | {
    state: 'active';
    /** notNative, valid, renewed, confirmed. */
    letter: 'A' | 'B' | 'C' | 'H';
    /** How it became active. */
    reason: 'notNative' | 'valid' | 'renewed' | 'confirmed';
  }
  | {
    state: 'failed';
    letter: 'E';
    reason: 'renewal';
    /** Why something failed. */
    error: ErrorDetail;
    /** What helps. */
    remedy: 'retry' | 'wait' | 'registerAgain';
    /** The access token has not expired yet. */
    tokenUsable: boolean;
  }
  | {
    state: 'failed';
    letter: 'F';
    reason: 'registration';
    /** Why something failed. */
    error: ErrorDetail;
  };

/** The next move is the host's. */
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
    /** Where. */
    verificationUri: string;
    /** With the code in it, for a QR code. */
    verificationUriComplete?: string;
  };

/** A transaction that has begun. */
export type Transaction = {
  /** Names the transaction. */
  transaction: string;
  /** The next move is the host's. */
  action: Action;
  /** As it was sent: with a loopback redirect, its port. Absent when nothing redirects. */
  redirectUri?: string;
  /** When the transaction ends by itself. Seconds since 1970-01-01T00:00:00Z. */
  expiresAt: number;
  /** False for a loopback redirect: its listener dies with the process. */
  survivesProcess: boolean;
};

/** What a URL turned out to be. */
export type HandledUrl =
  | {
    kind: 'registration';
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  }
  | {
    kind: 'logout';
  }
  | {
    kind: 'unsolicited';
  }
  | {
    kind: 'begun';
    /** Names the transaction. */
    transaction: string;
    /** The next move is the host's. */
    action: Action;
    /** As it was sent: with a loopback redirect, its port. Absent when nothing redirects. */
    redirectUri?: string;
    /** When the transaction ends by itself. Seconds since 1970-01-01T00:00:00Z. */
    expiresAt: number;
    /** False for a loopback redirect: its listener dies with the process. */
    survivesProcess: boolean;
  }
  | {
    kind: 'unsolicited';
    /** What may be offered to the user, the best first. */
    offers: Array<'signIn' | 'register'>;
  }
  | {
    kind: 'linkUsed';
    /** What may be offered to the user, the best first. */
    offers: Array<'signIn' | 'register'>;
  }
  | {
    kind: 'linkExpired';
    /** What may be offered to the user, the best first. */
    offers: Array<'signIn' | 'register'>;
  };

/** An access token that works. Its `accessToken` is not enumerable: a logged or posted result holds none. */
export type AccessOutcome =
  | {
    outcome: 'valid';
    /** For the Authorization header or a form body, nowhere else. */
    accessToken: string;
    /** As the server spelt it: Bearer, DPoP. */
    tokenType: string;
    /** By this device's clock; absent for a stand-in token, which has no end. Seconds since 1970-01-01T00:00:00Z. */
    expiresAt?: number;
  }
  | {
    outcome: 'stale';
    /** For the Authorization header or a form body, nowhere else. */
    accessToken: string;
    /** As the server spelt it: Bearer, DPoP. */
    tokenType: string;
    /** By this device's clock; absent for a stand-in token, which has no end. Seconds since 1970-01-01T00:00:00Z. */
    expiresAt?: number;
    /** One word or a short text, for a log. */
    reason: string;
    /** Why something failed. */
    error: ErrorDetail;
  }
  | {
    outcome: 'expired';
    /** Of the first failure. Seconds since 1970-01-01T00:00:00Z. */
    offlineSince?: number;
    /** Seconds until another try makes sense. */
    retryAfter?: number;
    /** One word or a short text, for a log. */
    reason: string;
    /** Why something failed. */
    error: ErrorDetail;
  }
  | {
    outcome: 'rejected';
    /** One word or a short text, for a log. */
    reason: string;
    /** Why something failed. */
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

/** The provider and the client; this or configurationName. */
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
  logoutDialect?: 'auth0';
  /** Another spelling of logoutDialect, never beside it. */
  logout_dialect?: 'auth0';
  /** What the sign-in after a logout or retry asks for. login by default. */
  promptAfterLogout?: 'login' | 'select_account';
  /** Another spelling of promptAfterLogout, never beside it. */
  prompt_after_logout?: 'login' | 'select_account';
  /** Endpoints of a provider without discovery, instead of asking it. */
  endpoints?: {
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
  /**
   * Authorize requests go to the provider by POST, the browser carries only their name (RFC 9126). By default
   * auto: where the provider has an endpoint for them.
   */
  pushedRequests?: 'auto' | 'always' | 'never';
  /** Another spelling of pushedRequests, never beside it. */
  pushed_requests?: 'auto' | 'always' | 'never';
  /**
   * Tokens are bound to a key of this client, and each request that carries one needs a proof from dpop.proof
   * (RFC 9449). By default auto: where the provider announces ES256. always refuses Bearer tokens; never is for
   * hosts that send nothing else.
   */
  dpop?: 'auto' | 'always' | 'never';
  /** Algorithms that id_tokens may be signed with. All of these by default. */
  idTokenAlgorithms?: Array<
    | 'RS256'
    | 'RS384'
    | 'RS512'
    | 'PS256'
    | 'PS384'
    | 'PS512'
    | 'ES256'
    | 'ES384'
    | 'ES512'
    | 'EdDSA'>;
  /** Another spelling of idTokenAlgorithms, never beside it. */
  id_token_algorithms?: Array<
    | 'RS256'
    | 'RS384'
    | 'RS512'
    | 'PS256'
    | 'PS384'
    | 'PS512'
    | 'ES256'
    | 'ES384'
    | 'ES512'
    | 'EdDSA'>;
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
  registration?:
    | 'signIn' | 'promptCreate'
    | {
      /** The gateway's own page. */
      registrationUri?: string;
      /** Another spelling of registrationUri, never beside it. */
      registration_uri?: string;
    };
  /** What an activation link leads to. authorize by default. */
  activation?: 'authorize' | 'openPage';
  /**
   * The page that openPage opens, such as https://id.example/welcome/{activationToken}. The activation link
   * itself by default.
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
  choices?: Array<{
    /** The host's word: google, email, … */
    kind: string;
    /** The provider's name for the connection. */
    connection?: string;
    /** What the user reads. */
    label: string;
    /** What the user reads beside it. */
    guidance?: string;
  }>;
  /** Registration with another app's help. */
  app2app?: {
    /** Asked first. */
    initUri?: string;
    /** Another spelling of initUri, never beside it. */
    init_uri?: string;
    /** Asked for tokens at the end. */
    completeUri?: string;
    /** Another spelling of completeUri, never beside it. */
    complete_uri?: string;
    /** What the gateway calls its fields. */
    fields?: {
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
    /** Beginnings of links that may be opened, each up to the end of a whole host or path segment. */
    allowedLinks?: string[];
    /** Another spelling of allowedLinks, never beside it. */
    allowed_links?: string[];
    /** Whether the user sets a PIN (step pin, ended by pin.set) before the profile is shown. False by default. */
    requirePin?: boolean;
    /** Another spelling of requirePin, never beside it. */
    require_pin?: boolean;
  };
  /** Another spelling of app2app, never beside it. */
  anotherApp?: {
    /** Asked first. */
    initUri?: string;
    /** Another spelling of initUri, never beside it. */
    init_uri?: string;
    /** Asked for tokens at the end. */
    completeUri?: string;
    /** Another spelling of completeUri, never beside it. */
    complete_uri?: string;
    /** What the gateway calls its fields. */
    fields?: {
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
    /** Beginnings of links that may be opened, each up to the end of a whole host or path segment. */
    allowedLinks?: string[];
    /** Another spelling of allowedLinks, never beside it. */
    allowed_links?: string[];
    /** Whether the user sets a PIN (step pin, ended by pin.set) before the profile is shown. False by default. */
    requirePin?: boolean;
    /** Another spelling of requirePin, never beside it. */
    require_pin?: boolean;
  };
  /** Another spelling of app2app, never beside it. */
  another_app?: {
    /** Asked first. */
    initUri?: string;
    /** Another spelling of initUri, never beside it. */
    init_uri?: string;
    /** Asked for tokens at the end. */
    completeUri?: string;
    /** Another spelling of completeUri, never beside it. */
    complete_uri?: string;
    /** What the gateway calls its fields. */
    fields?: {
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
    /** Beginnings of links that may be opened, each up to the end of a whole host or path segment. */
    allowedLinks?: string[];
    /** Another spelling of allowedLinks, never beside it. */
    allowed_links?: string[];
    /** Whether the user sets a PIN (step pin, ended by pin.set) before the profile is shown. False by default. */
    requirePin?: boolean;
    /** Another spelling of requirePin, never beside it. */
    require_pin?: boolean;
  };
  /** A back end that signs in on the app's behalf. */
  bff?: {
    /** Where its /v1/auth begins. */
    base: string;
    /** Takes the session token out of the redirect itself, where others can see it. False by default. */
    dangerouslyAcceptTokenInRedirect?: boolean;
    /** Another spelling of dangerouslyAcceptTokenInRedirect, never beside it. */
    dangerously_accept_token_in_redirect?: boolean;
  };
  /** Another spelling of bff, never beside it. */
  backend?: {
    /** Where its /v1/auth begins. */
    base: string;
    /** Takes the session token out of the redirect itself, where others can see it. False by default. */
    dangerouslyAcceptTokenInRedirect?: boolean;
    /** Another spelling of dangerouslyAcceptTokenInRedirect, never beside it. */
    dangerously_accept_token_in_redirect?: boolean;
  };
  /** Which provider's way of passwordless sign-in is spoken. */
  passwordless?: 'auth0';
  /**
   * What the provider calls the connection that the user chose: connection, idp, kc_idp_hint, provider, …
   * connection by default.
   */
  connectionParameter?: string;
  /** Another spelling of connectionParameter, never beside it. */
  connection_parameter?: string;
  /** What the page shows that a loopback redirect leaves in the browser. */
  returnPage?: {
    /** The app's name, above the rest. */
    appName?: string;
    /** Another spelling of appName, never beside it. */
    app_name?: string;
    /** A line of the app's own, in the page's language. */
    text?: string;
    /** The language of the page's own words. en by default. */
    language?: 'en' | 'de' | 'fr' | 'es' | 'it' | 'nl' | 'pt';
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
  /** Another spelling of returnPage, never beside it. */
  return_page?: {
    /** The app's name, above the rest. */
    appName?: string;
    /** Another spelling of appName, never beside it. */
    app_name?: string;
    /** A line of the app's own, in the page's language. */
    text?: string;
    /** The language of the page's own words. en by default. */
    language?: 'en' | 'de' | 'fr' | 'es' | 'it' | 'nl' | 'pt';
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

/** How a call is made. */
export interface CallOptions {
  /** Aborting it cancels the call, which then fails with the status 'cancelled'. */
  signal?: AbortSignal;
}

/** Why a call failed. */
export interface EnrollError extends Error, ErrorDetail {
  readonly name: 'EnrollError';
  /** The reason by name: 'accessDenied'. */
  readonly status: ErrorStatus;
  /** The reason as the C library numbers it. */
  readonly code: number;
  readonly blame: Blame;
  /** Whether the same call may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** The parameter or configuration key at fault. */
  readonly field?: string;
  /** Status of the HTTP response that caused it. */
  readonly httpStatus?: number;
  /** The provider's own error code (RFC 6749 §5.2). */
  readonly oauthError?: string;
  /** Seconds that the server asked us to wait. */
  readonly retryAfter?: number;
  /** Why renewing failed, with 'expired' and 'rejected'. */
  readonly reason?: ErrorStatus;
}

/** What each event carries beside its `name`. */
export interface EventParameters {
  /** The registration is in another state. */
  'registration.changed': {
    /** What client.open gave. */
    client: string;
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  };
  /** Raised once, when the first state is settled: the host may hide its splash screen. */
  'registration.settled': {
    /** What client.open gave. */
    client: string;
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  };
  /** There are new tokens, and they are stored. */
  'token.renewed': {
    /** What client.open gave. */
    client: string;
    /** When the access token ends. Seconds since 1970-01-01T00:00:00Z. */
    expiresAt: number;
  };
  /** A renewal failed; nothing is lost by it. */
  'token.renewalFailed': {
    /** What client.open gave. */
    client: string;
    /** Why something failed. */
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
    /** Why something failed. */
    error: ErrorDetail;
    /** For the host's own words: error. and the reason's name. */
    messageKey: string;
    /** What can be done about it. */
    helps: 'retry' | 'wait' | 'registerAgain' | 'verifyEmail' | 'createAccount' | 'support';
  };
  /** The plugin's own: a URL that reached the app was this client's. */
  'url.handled': { client: string; outcome: HandledUrl; error?: undefined } | { client: string; outcome?: undefined; error: EnrollError };
}

export type EventName = keyof EventParameters;

export type EnrollEvent = { [Name in EventName]: { name: Name } & EventParameters[Name] }[EventName];

export interface SystemCommands {
  /** What this library is: versions, flavour, commands, key providers. */
  describe(parameters?: Record<string, never>, options?: CallOptions): Promise<{
    name: 'EnrollKit';
    /** Of the library: major.minor.patch. */
    version: string;
    /** Of the C interface: major × 65536 + minor. */
    abi: number;
    /** small: Embedded Swift, without a runtime. */
    flavour: 'small' | 'standard';
    commands: string[];
    events: string[];
    /** That can protect a store. */
    keyProviders: string[];
  }>;
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
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  }>;
  /** Begins a transaction and says what the host must do now. */
  begin(parameters?: {
    /** What kind of transaction. */
    kind?: 'signIn' | 'register' | 'passwordless' | 'app2app' | 'bff' | 'device';
    /** Instead of the configured ones. */
    scopes?: string | string[];
    options?: {
      /** none, login, consent, select_account or create. */
      prompt?: string;
      /** Who is likely to sign in. */
      loginHint?: string;
      /** The user must have signed in at most so many seconds ago. */
      maxAge?: number;
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
      /** passwordless: what is sent. */
      message?: 'code' | 'link';
    };
    /** The host's own authorize parameters; the protocol's names are refused. */
    parameters?: Record<string, string>;
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<Transaction>;
  /** Takes the redirect back and carries its transaction to its end. */
  resume(parameters: {
    /** As it reached the host. */
    url: string;
    /** Whose return it is; needed only for one without state when several are pending. */
    transaction?: string;
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  }>;
  /** Takes an activation or fallback link, and says what the host must do now. */
  handleLink(parameters: {
    /** As it reached the host. */
    url: string;
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<
    | {
      kind: 'begun';
      /** Names the transaction. */
      transaction: string;
      /** The next move is the host's. */
      action: Action;
      /** As it was sent: with a loopback redirect, its port. Absent when nothing redirects. */
      redirectUri?: string;
      /** When the transaction ends by itself. Seconds since 1970-01-01T00:00:00Z. */
      expiresAt: number;
      /** False for a loopback redirect: its listener dies with the process. */
      survivesProcess: boolean;
    }
    | {
      kind: 'unsolicited';
      /** What may be offered to the user, the best first. */
      offers: Array<'signIn' | 'register'>;
    }
    | {
      kind: 'linkUsed';
      /** What may be offered to the user, the best first. */
      offers: Array<'signIn' | 'register'>;
    }
    | {
      kind: 'linkExpired';
      /** What may be offered to the user, the best first. */
      offers: Array<'signIn' | 'register'>;
    }>;
  /**
   * Waits until a transaction is settled: by its loopback redirect, by another call or another process, or, with
   * a device code, by the user elsewhere.
   */
  awaitOutcome(parameters: {
    /** Names the transaction. */
    transaction: string;
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  }>;
  /** Takes the one-time code that the user typed. */
  submitCode(parameters: {
    /** Names the transaction. */
    transaction: string;
    /** As the user typed it. */
    code: string;
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  }>;
  /**
   * The user's yes to the profile: G to H, after the verified address and the registration check that are
   * required.
   */
  confirm(parameters?: {
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  }>;
  /** Another try: provisional tokens are revoked and cleared, an earlier confirmed set survives. */
  retry(parameters?: {
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  }>;
  /**
   * The user left the browser: a hint, a late valid redirect still wins; a registration waits for its e-mail's
   * link.
   */
  cancel(parameters?: {
    /** Which one; without it, all. */
    transaction?: string;
  }, options?: CallOptions): Promise<{
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  }>;
  /** The other app's link could not be opened: its transaction is over, with F. */
  otherAppMissing(parameters: {
    /** Names the transaction. */
    transaction: string;
  }, options?: CallOptions): Promise<{
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  }>;
  /** Empties local state alone; no server is told. */
  clear(parameters?: Record<string, never>, options?: CallOptions): Promise<{
    /** Where the registration stands (letters A to H as documented). */
    state: State;
  }>;
  /** A logout that forgets the device too: pending transactions are cleared, the installation id is reset. */
  deregister(parameters?: {
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** Where the registration stands (letters A to H as documented). */
    state: State;
    /** Ends the provider's session in the browser, as from logout.begin; absent when there is none. */
    url?: string;
    /**
     * Whether the provider knows: told, queued (it is told later, for at most 7 days), notPossible (its tokens
     * work until they end by themselves). Absent where there was nothing to tell.
     */
    providerTold?: 'told' | 'queued' | 'notPossible';
    /** Why it is not possible to tell the provider. */
    reason?: string;
  }>;
}

export interface UrlCommands {
  /** One door for every URL that reaches an app. */
  handle(parameters: {
    /** As it reached the host. */
    url: string;
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<HandledUrl>;
}

export interface TokenCommands {
  /** A valid access token, renewed when due. One renewal serves all who ask. */
  access(parameters?: {
    /** Seconds that the token must still live. */
    minimumLifetime?: number;
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<AccessOutcome>;
  /**
   * Renews now, whatever the token's age: after a resource server refused it. A pause that the provider asked for
   * holds.
   */
  refresh(parameters?: {
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<AccessOutcome>;
  /** Tells the provider to forget the session's tokens, and forgets them here. */
  revoke(parameters?: {
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /**
     * Whether the provider knows: told, queued (it is told later, for at most 7 days), notPossible (its tokens
     * work until they end by themselves). Absent where there was nothing to tell.
     */
    providerTold?: 'told' | 'queued' | 'notPossible';
    /** Why it is not possible to tell the provider. */
    reason?: string;
  }>;
  /** What the provider says of one of the session's tokens (RFC 7662). */
  introspect(parameters?: {
    /** Which one; it is not handed out. */
    token?: 'accessToken' | 'refreshToken';
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** Whether it works. */
    active: boolean;
    /** All that was told, RFC 7662 §2.2. */
    claims: Record<string, unknown>;
  }>;
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
    claims: Record<string, unknown>;
  }>;
  /** The claims that the provider tells now, discarded unless they are about the same user. */
  userinfo(parameters?: {
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** OpenID Connect Core §5.1. */
    claims: Record<string, unknown>;
  }>;
}

export interface LogoutCommands {
  /** Erases the tokens here first, tells the provider, and gives the URL that ends its session in the browser. */
  begin(parameters?: {
    /** Nothing is sent, no URL is given. */
    localOnly?: boolean;
    /** Seconds that the call may take. */
    timeout?: number;
  }, options?: CallOptions): Promise<{
    /** To be opened in the external browser; absent when there is none. */
    url?: string;
    /**
     * Whether the provider knows: told, queued (it is told later, for at most 7 days), notPossible (its tokens
     * work until they end by themselves). Absent where there was nothing to tell.
     */
    providerTold?: 'told' | 'queued' | 'notPossible';
    /** Why it is not possible to tell the provider. */
    reason?: string;
  }>;
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
  read(parameters?: Record<string, never>, options?: CallOptions): Promise<{
    /** The proven claims about the user. */
    profile?: Record<string, unknown>;
    /** As the provider signed it. */
    idToken?: string;
    /** As it is kept, due or not; token.access gives one that works. */
    accessToken?: string;
    /** When the access token ends. Seconds since 1970-01-01T00:00:00Z. */
    expiresAt?: number;
    /** Absent for other kinds. */
    registrationType?: 'SOCIAL' | 'PASSWORDLESS';
  }>;
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
  }, options?: CallOptions): Promise<{
    /** unlocked; wrong; tooSoon: not looked at; erased: it was the last try, the account is gone. */
    outcome: 'unlocked' | 'wrong' | 'tooSoon' | 'erased';
    /** Before the account is erased. */
    triesLeft: number;
    /** Seconds until the next try is looked at. */
    retryAfter: number;
  }>;
  /** Replaces the PIN. */
  change(parameters: {
    /** The present one. 4 to 64 bytes. */
    pin: string;
    /** The new one. 4 to 64 bytes. */
    newPin: string;
  }, options?: CallOptions): Promise<{
    /** unlocked; wrong; tooSoon: not looked at; erased: it was the last try, the account is gone. */
    outcome: 'unlocked' | 'wrong' | 'tooSoon' | 'erased';
    /** Before the account is erased. */
    triesLeft: number;
    /** Seconds until the next try is looked at. */
    retryAfter: number;
  }>;
  /** Takes the PIN away; the account is open from then on. */
  remove(parameters: {
    /** The present one. 4 to 64 bytes. */
    pin: string;
  }, options?: CallOptions): Promise<{
    /** unlocked; wrong; tooSoon: not looked at; erased: it was the last try, the account is gone. */
    outcome: 'unlocked' | 'wrong' | 'tooSoon' | 'erased';
    /** Before the account is erased. */
    triesLeft: number;
    /** Seconds until the next try is looked at. */
    retryAfter: number;
  }>;
}

export interface AccountsCommands {
  /** Names of the accounts in a store; none where there is no store yet. */
  list(parameters?: {
    /** A name within the app's own data, not a path. */
    store?: string;
  }, options?: CallOptions): Promise<{
    /** Sorted. */
    accounts: string[];
  }>;
  /** Erases an account from a store, at every provider; no server is told. Removing an unknown one is no error. */
  remove(parameters: {
    /** A name within the app's own data, not a path. */
    store?: string;
    /** Names one set of tokens. */
    account: string;
  }, options?: CallOptions): Promise<Record<string, never>>;
}

export interface InstallationCommands {
  /** Forgets the installation id of a store: the next use makes another. No store, no error. */
  reset(parameters?: {
    /** A name within the app's own data, not a path. */
    store?: string;
  }, options?: CallOptions): Promise<Record<string, never>>;
}

export interface StoreCommands {
  /** How a store is: owner, permissions, key provider and why, each file, set-aside ones. Changes nothing. */
  diagnose(parameters?: {
    /** A name within the app's own data, not a path. */
    store?: string;
  }, options?: CallOptions): Promise<
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
      /** Who would get the key of a new store, and why. */
      keyChoice?: {
        /** A provider's name; none while the best is locked. */
        provider?: string;
        /** Why that one. */
        reason: string;
        /** In the order of preference. */
        candidates: Array<{
          /** A provider's name. */
          provider: string;
          presence: 'present' | 'locked' | 'absent';
          /** Why it is not present. */
          reason?: string;
        }>;
      };
      /** How many there are, readable or not. */
      accounts: number;
      /** Damaged files that were set aside. */
      setAside: number;
      /** None while the key is not to be had. */
      files: Array<{
        /** In the folder; tells no account's name. */
        name: string;
        kind: 'account' | 'outbox' | 'installation' | 'provider';
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
        /** Why something failed. */
        problem?: ErrorDetail;
      }>;
      /** Why something failed. */
      problem?: ErrorDetail;
    }>;
}

export interface PkceCommands {
  /** A verifier and its challenge, S256 (RFC 7636 §4). */
  generate(parameters?: Record<string, never>, options?: CallOptions): Promise<{
    /** A secret, 43 characters of base64url. */
    codeVerifier: string;
    /** Its SHA-256, base64url. */
    codeChallenge: string;
    codeChallengeMethod: 'S256';
  }>;
}

export interface RedirectCommands {
  /** Reads a redirect without believing it (RFC 6749 §4.1.2, RFC 9207). */
  parse(parameters: {
    /** As it reached the host. */
    url: string;
  }, options?: CallOptions): Promise<{
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
  }>;
  /** Which of several configurations a URL belongs to. Looks at no store: an owned URL may still be unsolicited. */
  route(parameters: {
    /** Of all that the app has. */
    configurations: Configuration[];
    /** As it reached the host. */
    url: string;
  }, options?: CallOptions): Promise<{
    /** The place of its owner in the list; absent when it has none. */
    index?: number;
    /** What it is to its owner. */
    kind?: 'redirect' | 'logout' | 'fallback' | 'activation';
  }>;
}

export interface LinkCommands {
  /** Reads a link by the allow-list of R9, or refuses it; nothing is repaired. */
  parse(parameters: {
    /** As it reached the host. */
    url: string;
  }, options?: CallOptions): Promise<{
    /** What may be done with it. */
    kind: 'https' | 'loopbackHTTP' | 'privateScheme';
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
  }>;
}

export interface ExpiryCommands {
  /** In which band of its life a token is: fresh, due or expired. */
  check(parameters: {
    /** When the token ends. Seconds since 1970-01-01T00:00:00Z. */
    expiresAt: number;
    /** Now; without it, this device's clock. Seconds since 1970-01-01T00:00:00Z. */
    now?: number;
    /** Seconds before its end from which it is due. */
    grace?: number;
    /** Seconds that the token must still live. */
    minimumLifetime?: number;
    /** Its whole life in seconds: at most half of it counts as grace period. */
    lifetime?: number;
  }, options?: CallOptions): Promise<{
    /** Hand it out; renew it; renew it or fail. */
    band: 'fresh' | 'due' | 'expired';
    /** Negative once it has ended. */
    secondsLeft: number;
  }>;
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
   * Begins a transaction, opens the external browser or the other app, and waits for its end. `onBegun` is told the
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
  /** What the host says about the device. */
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
