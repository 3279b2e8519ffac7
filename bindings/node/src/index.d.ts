// EnrollKit for Node.js and Electron. The types of commands, results and events are generated from the manifest.

import type {
  CallOptions, Claims, ClientCommands, Commands, ErrorDetail, EventName, EnrollEvent, EventParameters, LogoutCommands, OpenOptions,
  RegistrationCommands, SignOut, State, Status, TokenCommands, Transaction,
} from './generated/types.js';

export * from './generated/types.js';

declare global {
  // Newer versions of TypeScript declare this themselves, in the same way.
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/** Why something failed. No text in it contains a secret. */
export class EnrollError extends Error implements Omit<ErrorDetail, 'status'> {
  private constructor();
  readonly name: 'EnrollError';
  /** The status by name. `daemonEnded` is this package's own: the daemon ended during a call, or is not enrolld. */
  readonly status: Status | 'daemonEnded';
  /** The number of the status in the C library; 0 for `daemonEnded`. */
  readonly code: number;
  readonly blame: ErrorDetail['blame'];
  /** Whether the same call may succeed later without any change. */
  readonly retryable: boolean;
  /** The configuration key or the parameter at fault. */
  readonly field?: string;
  /** The status of the HTTP response that caused the failure. */
  readonly httpStatus?: number;
  /** The provider's own error code (RFC 6749 §5.2). */
  readonly oauthError?: string;
  /** The provider's own words about its error, for a log; absent if there are none, or if they may repeat a secret. */
  readonly oauthErrorDescription?: string;
  /** Seconds that the server asked the client to wait. */
  readonly retryAfter?: number;
  /** The exception of the program's own transport or secret store, or the reason with which the call was aborted. */
  readonly cause?: unknown;
}

/** An argument is missing, of the wrong type or out of range. `field` names it; its value is not shown. */
export class EnrollArgumentError extends TypeError {
  private constructor();
  readonly name: 'EnrollArgumentError';
  readonly status: 'invalidArgument';
  readonly code: number;
  readonly blame: 'caller';
  readonly retryable: false;
  readonly field?: string;
}

/** A token that works. Only the members `value` and `authorization` show its value. */
export class AccessToken {
  private constructor();
  /** For the Authorization header or a form body, and nowhere else. Not enumerable. */
  readonly value: string;
  /** The type as the server spells it: Bearer, DPoP. */
  readonly type: string;
  /** When the token expires, by this device's clock; undefined for a token that does not expire. */
  readonly expiresAt: Date | undefined;
  readonly outcome: 'valid' | 'stale';
  /** For a token that was requested with `resource` or `scope`: the granted scopes, separated by spaces. */
  readonly scope?: string;
  /** For a stale token: why it could not be renewed. */
  readonly error?: EnrollError;
  /** The value of the header `Authorization`. A token of type DPoP also needs a proof: `client.dpop.proof`. */
  readonly authorization: string;
  /** Whether the token is due and could not be renewed; it works until it expires. */
  readonly isStale: boolean;
}

/** The audience of a token other than the session's own. */
export interface Audience {
  /** The resource server: an absolute https URL without fragment (RFC 8707). */
  resource?: string;
  /** Scopes, out of those that the user granted. */
  scope?: string | string[];
}

/** An HTTP request to send for the daemon. `url`, `headers` and `body` contain tokens; they are not enumerable. */
export interface HTTPRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
  /** The maximum size of the response body in bytes. Stop reading there, with an error of status 'responseInvalid'. */
  readonly responseLimit: number;
  /** Seconds that the whole exchange may take. */
  readonly timeout: number;
  /** Send the request on a new connection, and never repeat it automatically. */
  readonly needsFreshConnection: boolean;
  /** Aborted when no call waits for the response any more. */
  readonly signal: AbortSignal;
}

/** A whole response, of any status. */
export interface HTTPResponse {
  /** 100 to 599. */
  status: number;
  headers?: Record<string, string> | Iterable<readonly [string, string]>;
  body?: string | Uint8Array;
}

/**
 * Sends one request. It must follow no redirects, never resend a request, and check certificates. An exception
 * becomes the `cause` of the error of the call that needed the response: a TimeoutError is a `timeout`, a failed
 * certificate `tls`, a failed connection `network`, and anything else `internal`. If nothing of the request that
 * sends a sign-in's code left the machine, the sign-in keeps waiting and does not end. The errors of Node.js show
 * this case; on your own exception, set the member `notSent: true`.
 */
export type Transport = (request: HTTPRequest) => HTTPResponse | Promise<HTTPResponse>;

/** The program's own secret store, such as Electron's safeStorage. */
export interface SecretStore {
  /** The 32 bytes that were saved under this name; undefined or null if there are none. */
  load(name: string): Uint8Array | undefined | null | Promise<Uint8Array | undefined | null>;
  /** Saves 32 bytes. They must be durable before it returns. */
  save(name: string, secret: Uint8Array): void | Promise<void>;
  /** Removes a name; an unknown name is no error. */
  remove(name: string): void | Promise<void>;
}

/** Keeps the key of a store with this program. */
export interface HostKeys {
  host: SecretStore;
}

export interface StartOptions {
  /** The enrolld to run. By default the one in the environment variable ENROLLD, else the one in this package. */
  program?: string;
  /** The daemon's log level, `warning` by default. It never logs parameters, results or URLs. */
  logLevel?: 'error' | 'warning' | 'info' | 'debug';
  /** Receives the daemon's log, which otherwise goes to standard error. */
  log?: (level: 'error' | 'warning' | 'info' | 'debug', text: string) => void;
}

export interface Enroll extends Commands {}

/** An enrolld process. It does not keep the program alive while no call waits, and ends with the program. */
export class Enroll {
  private constructor();
  static readonly VERSION: string;

  /** Starts a daemon. Fails with the status 'unsupported' if there is no enrolld for this machine, or if its version
   *  does not match. */
  static start(options?: StartOptions): Promise<Enroll>;

  readonly processId: number;

  /** Opens one account at one provider. Sends no request. */
  open(options: OpenOptions, call?: CallOptions): Promise<EnrollClient>;

  /**
   * Ends the daemon and waits for it to exit: calls that wait for a user are cancelled, renewals that were sent are
   * stored. A second call changes nothing.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export type BeginParameters = NonNullable<Parameters<RegistrationCommands['begin']>[0]>;

export interface SignInOptions extends CallOptions {
  /**
   * Shows the user what to do. The default function opens the system's browser, and can show nothing else. If the
   * function throws, the sign-in fails with that exception. The function need not wait: the sign-in ends when the user
   * returns, even if the function is still running.
   */
  present?: (action: Transaction['action'], transaction: Transaction) => unknown;
  /** Shows the profile and returns the user's decision: true confirms it, false revokes the tokens. */
  confirm?: (profile: Claims) => boolean | Promise<boolean>;
  /** Seconds to wait for the user. By default until the transaction expires. */
  timeout?: number;
}

export interface EnrollClient extends ClientCommands {}

/** One account at one provider: signs its user in and gives the program a valid access token. */
export class EnrollClient {
  private constructor();
  /** The daemon's name for the client. */
  readonly id: string;
  readonly isClosed: boolean;

  /**
   * Signs the user in: begins a transaction, opens the browser, and waits for the redirect. A loopback redirect arrives by
   * itself; pass any other redirect to `registration.resume` or `url.handle` while this call waits. Without `confirm` a
   * first sign-in ends with the state 'awaitingConfirmation'. If an earlier sign-in waits for confirmation, no browser
   * opens: `confirm` is asked about its profile. Fails as registration.begin, awaitOutcome and confirm do; with
   * 'illegalState' also if another sign-in arrived while `confirm` asked the user: then that sign-in waits, and
   * nothing has changed.
   */
  signIn(parameters?: BeginParameters, options?: SignInOptions): Promise<State>;

  /** A token that works. Fails if there is none: with 'reauthenticate' the user has to sign in. */
  accessToken(parameters?: Parameters<TokenCommands['access']>[0], options?: CallOptions): Promise<AccessToken>;

  /** Renews the token now. */
  refresh(parameters?: Parameters<TokenCommands['refresh']>[0], options?: CallOptions): Promise<AccessToken>;

  /**
   * `fetch` with the token of this client, and with a proof if the token is of type DPoP. After a 401 the request is sent
   * once more, with the nonce that the server requires or with a renewed token, if its body can be sent twice: the body
   * of a Request can, because it is read into memory first; a stream in `init` cannot. Calls that get 401 at the same
   * time share one renewal.
   *
   * The token goes only to https or to a loopback address, and to no other origin after a redirect. Any other URL, a
   * URL with a user name or password, and an invalid URL cause an EnrollArgumentError with the field `url`, which does
   * not show the URL; a Request whose body was read causes one with the field `input`. A `signal` that is aborted also
   * ends the wait for a token, with its `reason`. Fails as `accessToken` does; with 'handle' if the client is closed;
   * otherwise as `fetch` does.
   *
   * Node.js sends requests through no proxy unless the program asks for one (a `dispatcher`, NODE_USE_ENV_PROXY).
   * Exclude loopback addresses from the proxy, because a proxy can read the token of a request over http.
   *
   * `audience`: the API that the token is for (RFC 8707), or fewer scopes; without it, the session's own token.
   */
  fetch(input: string | URL | Request, init?: RequestInit, audience?: Audience): Promise<Response>;

  /**
   * Logs out as logout.begin does, and opens the URL that ends the browser's session, if there is one. It waits a moment for
   * the browser, and for `present`. The URL contains the user's id_token, so `url` is not enumerable.
   */
  logOut(
    parameters?: Parameters<LogoutCommands['begin']>[0],
    options?: CallOptions & { present?: (action: { type: 'openURL'; url: string }) => unknown },
  ): Promise<SignOut>;

  /** The events since this call, until the client is closed or the signal is aborted. The iterator keeps the last 1024
   *  that were not read. */
  events(options?: CallOptions): AsyncIterableIterator<EnrollEvent>;

  on<Name extends EventName>(name: Name, listener: (event: { name: Name } & EventParameters[Name]) => void): this;
  once<Name extends EventName>(name: Name, listener: (event: { name: Name } & EventParameters[Name]) => void): this;
  off<Name extends EventName>(name: Name, listener: (event: { name: Name } & EventParameters[Name]) => void): this;

  /** Cancels the calls that wait in this client. The tokens stay in the store. A second call changes nothing. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
