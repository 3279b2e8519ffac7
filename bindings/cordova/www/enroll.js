// EnrollKit for Cordova: promises over the plugin's native part, which calls the C library.
//
// Every command of the manifest (`enrolld --manifest`) is a method of the same name: `token.access` is
// `client.token.access(parameters)`. What a hybrid app wants most has a method of its own: `client.signIn()`,
// `client.logOut()`, `client.subscribe()`. URLs that reach the app are handed to the client that waits for them,
// without the page having to do anything.
//
// This file does not touch the DOM, but for two events after which it offers held URLs once more (`retryURLs`).

'use strict';

const exec = require('cordova/exec');

const SERVICE = 'EnrollKit';

/** The commands of one client, by their group. A test holds this against the manifest. */
const CLIENT_COMMANDS = {
  platform: ['ready'],
  registration: [
    'state', 'begin', 'resume', 'handleLink', 'await', 'submitCode', 'confirm', 'retry', 'cancel', 'otherAppMissing',
    'clear', 'deregister',
  ],
  url: ['handle'],
  token: ['access', 'refresh', 'revoke', 'introspect'],
  dpop: ['proof'],
  identity: ['profile', 'userinfo'],
  logout: ['begin', 'resume'],
  account: ['read'],
  diagnostics: ['export'],
  pin: ['set', 'unlock', 'change', 'remove'],
};

/** The commands that need no client. */
const COMMANDS = {
  system: ['describe'],
  accounts: ['list', 'remove'],
  installation: ['reset'],
  store: ['diagnose'],
  pkce: ['generate'],
  redirect: ['parse', 'route'],
  link: ['parse'],
  expiry: ['check'],
};

const EVENTS = [
  'registration.changed', 'registration.settled', 'token.renewed', 'token.renewalFailed', 'logout.finished',
  'error.reported',
];

/** What the plugin itself tells: `url.handled` with what a URL turned out to be, or with the error that it met. */
const PLUGIN_EVENTS = ['url.handled'];

/** Members of results that are secrets: to be had by their name, but not listed, so that a logged, stored or posted
 *  result holds none. */
const SECRETS = ['accessToken', 'idToken', 'codeVerifier'];

/** Longer than any transaction lives. */
const A_DAY = 86400;

/** So many URLs are kept that no client has claimed yet; the native part keeps no more. */
const URLS_HELD = 4;

/** Why a call failed. The names are those of the manifest's errors. */
class EnrollError extends Error {
  constructor(detail) {
    super(detail.message);
    this.name = 'EnrollError';
    /** The status by name: "accessDenied". */
    this.status = detail.status;
    /** The status as the C library numbers it: -39. */
    this.code = detail.code;
    /** Whose fault it is: caller, host, user, server, network, internal. */
    this.blame = detail.blame;
    /** Whether the same call may succeed later without anybody changing anything. */
    this.retryable = detail.retryable;
    for (const name of ['field', 'httpStatus', 'oauthError', 'retryAfter', 'reason']) {
      if (detail[name] !== undefined) this[name] = detail[name];
    }
  }

  toString() {
    return `EnrollError ${this.status}: ${this.message}`;
  }

  /** An error's own message is not listed by JSON; a log wants it. */
  toJSON() {
    return { name: this.name, message: this.message, ...this };
  }
}

const callerError = (status, code, message, field) =>
  new EnrollError({ status, code, blame: 'caller', retryable: false, message, ...(field && { field }) });
const invalid = (field, message) => callerError('invalidArgument', -1, message, field);
const cancelled = (what) => callerError('cancelled', -6, `${what} was cancelled`);

/** The native part's word for a failure as an error. */
function failure(detail, what) {
  if (detail instanceof EnrollError) return detail;
  if (detail && typeof detail.status === 'string' && typeof detail.message === 'string') return new EnrollError(detail);
  // Cordova's own: "Class not found", "Invalid action".
  return new EnrollError({
    status: 'unsupported', code: -9, blame: 'host', retryable: false,
    message: `${what} did not reach EnrollKit's native part: ${detail ? String(detail) : 'no reason was given'}`,
  });
}

const kindOf = (value) => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
};

const isPlainObject = (value) => {
  if (value === null || typeof value !== 'object') return false;
  const prototype = Object.getPrototypeOf(value);
  // An object of another frame has another Object.prototype: one whose own prototype is null.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** A copy of what the caller gave that is nothing but JSON, or an error that names what is not. */
function jsonObject(value, what, field) {
  if (!isPlainObject(value)) throw invalid(field, `${what}: expected an object for ${field}, got ${kindOf(value)}`);
  const check = (key, member) => {
    if (['function', 'symbol', 'bigint'].includes(typeof member) || (typeof member === 'number' && !isFinite(member))) {
      const name = key || field;
      const kind = typeof member === 'number' ? 'no finite number' : kindOf(member);
      throw invalid(name, `${what}: ${name} is ${kind}, which JSON cannot carry`);
    }
    return member;
  };
  try {
    return JSON.parse(JSON.stringify(value, check));
  } catch (error) {
    if (error instanceof EnrollError) throw error;
    throw invalid(field, `${what}: ${field} is not JSON: it refers to itself`);
  }
}

function requireOptions(options, what) {
  if (isPlainObject(options)) return;
  throw invalid('options', `${what}: expected an object for options, got ${kindOf(options)}`);
}

function requireListener(listener, what) {
  if (typeof listener === 'function') return;
  throw invalid('listener', `${what}: expected a function, got ${kindOf(listener)}`);
}

function knownKeys(value, keys, what) {
  const stranger = Object.keys(value).find((key) => !keys.includes(key));
  if (stranger !== undefined) throw invalid(stranger, `${what}: ${stranger} is not known; expected ${keys.join(', ')}`);
}

function conceal(result) {
  if (result === null || typeof result !== 'object') return result;
  for (const name of SECRETS) {
    if (name in result) Object.defineProperty(result, name, { value: result[name], enumerable: false });
  }
  return result;
}

/** One action of the native part. */
function native(action, args, what = action) {
  return new Promise((resolve, reject) => {
    exec(resolve, (detail) => reject(failure(detail, what)), SERVICE, action, args);
  });
}

let lastCall = 0;

/** Runs a command; `signal` cancels it. */
async function call(client, command, parameters = {}, options = {}) {
  const json = jsonObject(parameters, command, 'parameters');
  requireOptions(options, command);
  knownKeys(options, ['signal'], command);
  const { signal } = options;
  if (signal !== undefined && typeof (signal && signal.addEventListener) !== 'function') {
    throw invalid('signal', `${command}: expected an AbortSignal, got ${kindOf(signal)}`);
  }
  if (signal && signal.aborted) throw cancelled(command);
  const number = ++lastCall;
  // The native part answers a cancelled call itself: nothing is left behind there.
  const abort = () => native('cancel', [number]).catch(() => {});
  if (signal) signal.addEventListener('abort', abort, { once: true });
  try {
    return conceal(await native('call', [number, client, command, json], command));
  } finally {
    if (signal) signal.removeEventListener('abort', abort);
  }
}

/** An object with a method for each command: { access(parameters, options) }. */
function group(name, verbs, run) {
  const method = (verb) => (parameters, options) => run(`${name}.${verb}`, parameters, options);
  return Object.freeze(Object.fromEntries(verbs.map((verb) => [verb, method(verb)])));
}

class EnrollClient {
  #id;
  #listeners = new Set();
  #closed = false;

  constructor(id) {
    this.#id = id;
    for (const [name, verbs] of Object.entries(CLIENT_COMMANDS)) {
      this[name] = group(name, verbs, (...args) => this.#call(...args));
    }
    Object.freeze(this);
  }

  get id() {
    return this.#id;
  }

  async #call(command, ...rest) {
    if (this.#closed) throw callerError('handle', -2, `${command}: this client was closed`);
    try {
      return await call(this.#id, command, ...rest);
    } catch (error) {
      // Closed while it waited.
      throw this.#closed && error.status === 'handle' ? cancelled(command) : error;
    }
  }

  /** Begins a transaction, opens the browser (or the other app), and waits for the end: the state. */
  async signIn(parameters = {}, options = {}) {
    requireOptions(options, 'signIn');
    const { onBegun, ...rest } = options;
    if (onBegun !== undefined && typeof onBegun !== 'function') {
      throw invalid('onBegun', `signIn: expected a function for onBegun, got ${kindOf(onBegun)}`);
    }
    const begun = await this.registration.begin(parameters, rest);
    if (onBegun) onBegun(begun);
    return this.#carryOn(begun, rest);
  }

  async #carryOn(begun, { signal }) {
    const { transaction } = begun;
    const left = new AbortController();
    const leave = () => left.abort();
    if (signal) signal.addEventListener('abort', leave, { once: true });
    inBrowser.add(left);
    try {
      if (signal && signal.aborted) throw cancelled('signIn');
      await this.#act(begun);
      return (await this.registration.awaitOutcome({ transaction, timeout: A_DAY }, { signal: left.signal })).state;
    } catch (error) {
      // A hint only: where it cannot be given, nothing is lost.
      const userLeft = error.status === 'cancelled' && !this.#closed;
      if (userLeft) await this.registration.cancel({ transaction }).catch(() => {});
      throw error;
    } finally {
      inBrowser.delete(left);
      if (signal) signal.removeEventListener('abort', leave);
    }
  }

  /** Does what a transaction needs of the system. */
  async #act({ transaction, action }) {
    if (action.type === 'openURL') return native('browse', [action.url, false], 'opening the browser');
    if (action.type !== 'openOtherApp') return undefined;
    try {
      return await native('browse', [action.url, true], 'opening the other app');
    } catch (error) {
      await this.registration.otherAppMissing({ transaction });
      throw error;
    }
  }

  /** Erases the tokens, tells the provider, and ends the session in the browser too, unless it is `localOnly`. */
  async logOut(parameters = {}, options = {}) {
    const { url } = await this.logout.begin(parameters, options);
    if (url) await native('browse', [url, false], 'opening the browser');
    return { browser: Boolean(url) };
  }

  /** Tells the listener each event, or each of that name, until the function that is returned was called. */
  subscribe(...args) {
    const [name, listener] = args.length > 1 ? args : [undefined, args[0]];
    const names = [...EVENTS, ...PLUGIN_EVENTS];
    if (name !== undefined && !names.includes(name)) {
      throw invalid('name', `subscribe: there is no event ${String(name)}; expected ${names.join(', ')}`);
    }
    requireListener(listener, 'subscribe');
    if (this.#closed) throw callerError('handle', -2, 'subscribe: this client was closed');
    const subscription = { name, listener };
    this.#listeners.add(subscription);
    return () => void this.#listeners.delete(subscription);
  }

  /** Takes a URL that reached the app. False: it is none of this client's. */
  async #take(url) {
    let outcome;
    try {
      outcome = await this.url.handle({ url, timeout: 60 });
      if (outcome.kind === 'unsolicited') return 'unclaimed';
    } catch (error) {
      // Not a URL of ours at all; or the client went meanwhile.
      if (error.status === 'redirectMalformed' || this.#closed) return 'unclaimed';
      this.#tell({ name: 'url.handled', client: this.#id, error });
      return error.retryable ? 'later' : 'claimed';
    }
    this.#tell({ name: 'url.handled', client: this.#id, outcome });
    if (outcome.kind === 'begun') {
      await this.#act(outcome).catch((error) => this.#tell({ name: 'url.handled', client: this.#id, error }));
    }
    return 'claimed';
  }

  #tell(event) {
    for (const { name, listener } of [...this.#listeners]) {
      if (name !== undefined && name !== event.name) continue;
      try {
        listener(event);
      } catch (error) {
        // One listener's fault is not another's.
        console.error(error);
      }
    }
  }

  /** Stops what waits in this client. The tokens stay in the store. Closing twice is no error. */
  async close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#listeners.clear();
    clients.delete(this.#id);
    await native('close', [this.#id]);
  }

  toString() {
    return `[EnrollClient ${this.#id}]`;
  }

  toJSON() {
    return { client: this.#id };
  }

  static tell(client, event) {
    client.#tell(event);
  }

  static take(client, url) {
    return client.#take(url);
  }
}

/** The open clients by their id. */
const clients = new Map();
const unclaimedListeners = new Set();

/** Sign-ins that are under way, to be aborted where the system tells that the user closed the browser. */
const inBrowser = new Set();

/** URLs that came and were not taken yet: { id, url }, the native part's numbers, the oldest first. */
let held = [];
/** URLs are looked at one after the other: a redirect and its twin never race. */
let working = Promise.resolve();

function receive(message) {
  if (message.type === 'event') {
    const client = clients.get(message.client);
    if (client) EnrollClient.tell(client, { ...message.parameters, name: message.name, client: message.client });
  } else if (message.type === 'url' && !held.some(({ id }) => id === message.id)) {
    held.push({ id: message.id, url: message.url });
    while (held.length > URLS_HELD) drop(held[0]);
    retryURLs();
  } else if (message.type === 'browserClosed') {
    for (const left of inBrowser) left.abort();
  }
}

function drop(entry) {
  held = held.filter((other) => other !== entry);
  native('taken', [entry.id]).catch(() => {});
}

/** Offers every URL that is held to every client once more. */
function retryURLs() {
  working = working.then(async () => {
    for (const entry of [...held]) await offer(entry);
  });
  return working;
}

async function offer(entry) {
  for (const client of [...clients.values()]) {
    const verdict = await EnrollClient.take(client, entry.url);
    if (verdict === 'claimed') drop(entry);
    if (verdict !== 'unclaimed') return;
  }
  // Nobody's yet: a client that is opened later may know it.
  if (entry.told || clients.size === 0) return;
  entry.told = true;
  for (const listener of [...unclaimedListeners]) {
    if (listener(entry.url) === true) drop(entry);
  }
}

let listening;

/** The one stream from the native part: events and URLs. */
function listen() {
  if (listening) return listening;
  listening = new Promise((resolve, reject) => {
    exec(
      (message) => (message.type === 'ready' ? resolve() : receive(message)),
      (detail) => reject(failure(detail, 'listening')),
      SERVICE, 'listen', []);
  });
  // A part that could not listen may be asked again.
  listening.catch(() => (listening = undefined));
  if (typeof document !== 'undefined') document.addEventListener('resume', retryURLs);
  if (typeof window !== 'undefined') window.addEventListener('online', retryURLs);
  return listening;
}

const OPEN_KEYS = ['configuration', 'store', 'account', 'platform', 'renewInBackground', 'waitForPlatform'];

/** Opens one account at one provider. */
async function open(options) {
  const json = jsonObject(options === undefined ? {} : options, 'open', 'options');
  knownKeys(json, OPEN_KEYS, 'open');
  if (!isPlainObject(json.configuration)) {
    throw invalid('configuration', `open: expected an object for configuration, got ${kindOf(json.configuration)}`);
  }
  storeName(json.store, 'open');
  await listen();
  const { client: id } = await native('open', [json], 'open');
  const client = new EnrollClient(id);
  clients.set(id, client);
  if (held.length > 0) retryURLs();
  return client;
}

/** A store is a name within the app's own data, not a path: a page names no files. */
function storeName(name, what) {
  if (name === undefined) return;
  if (typeof name !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    throw invalid('store', `${what}: expected a name of at most 64 letters, digits, '.', '-' and '_' for store`);
  }
}

/** Tells the listener the URLs that no client asked for; one that it takes as its own it answers with true. */
function onUnclaimedURL(listener) {
  requireListener(listener, 'onUnclaimedURL');
  unclaimedListeners.add(listener);
  return () => void unclaimedListeners.delete(listener);
}

async function callWithoutClient(command, parameters = {}, options = {}) {
  if (isPlainObject(parameters)) storeName(parameters.store, command);
  return call(null, command, parameters, options);
}

module.exports = {
  open,
  retryURLs,
  onUnclaimedURL,
  EnrollError,
  ...Object.fromEntries(Object.entries(COMMANDS).map(([name, verbs]) => [name, group(name, verbs, callWithoutClient)])),
};
