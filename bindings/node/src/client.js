// One account at one provider, open in a daemon.
//
// Every command of the manifest (`enrolld --manifest`) is a method of the same name: `token.access` is
// `client.token.access(parameters, options)`. The most frequent tasks have methods of their own.

import { EventEmitter } from 'node:events';

import { onAbort } from './abort.js';
import { openBrowserSoon, presentInBrowser } from './browser.js';
import { cancelled, failed, invalid } from './error.js';
import { EventStream } from './events.js';
import { fetchWith } from './fetch.js';
import { check, checkOptions, conceal, isPlainObject } from './given.js';
import { CLIENT_COMMANDS, EVENTS } from './generated/surface.js';
import { REDIRECT_HINT_DELAY, warnOfMissingRedirect } from './redirect_hint.js';
import { tokenOf } from './token.js';

/** The longest wait for a user, in seconds; any transaction expires earlier. */
const A_DAY = 86_400;

/** An object with a method for each command: { access(parameters, options) }. */
export function group(name, verbs, run) {
  const method = (verb) => (parameters = {}, options = {}) => run(`${name}.${verb}`, parameters, options);
  return Object.freeze(Object.fromEntries(verbs.map((verb) => [verb, method(verb)])));
}

export class EnrollClient extends EventEmitter {
  #id;
  #session;
  #parts;
  #streams = new Set();
  #subscribed;
  #closing;
  /** Counts the starts and ends of calls of this client that may change its token. */
  #changes = 0;
  #recent;

  /** Called by `Enroll.open`. `session` is the connection to the daemon: { daemon, run, close }. */
  constructor(id, session, parts) {
    super();
    this.#id = id;
    this.#session = session;
    this.#parts = parts;
    for (const [name, verbs] of Object.entries(CLIENT_COMMANDS)) {
      Object.defineProperty(this, name, { value: group(name, verbs, (...call) => this.#call(...call)), enumerable: true });
    }
    session.daemon.listen(id, (name, parameters) => this.#take(name, parameters));
    this.on('newListener', (name) => {
      if (EVENTS.includes(name)) this.#subscribe().catch(() => {});
    });
  }

  /** The daemon's name for the client. */
  get id() {
    return this.#id;
  }

  get isClosed() {
    return this.#closing !== undefined;
  }

  async #call(command, parameters, options, isChange = true) {
    if (this.isClosed) throw failed('handle', `${command}: the client is closed`);
    this.#changes += isChange;
    try {
      return await this.#session.run(command, parameters, options, this.#id);
    } catch (error) {
      // The client was closed while the call waited.
      if (this.isClosed && error.status === 'handle') throw cancelled(command);
      throw this.#parts ? this.#parts.explained(error) : error;
    } finally {
      this.#changes += isChange;
    }
  }

  /** Begins a transaction, shows the user what to do, and waits for its outcome; returns the state. If an earlier
   * sign-in waits for the user's confirmation, no transaction begins: the user is asked to confirm the earlier one.
   */
  async signIn(parameters = {}, options = {}) {
    checkOptions('signIn', options, { signal: 'signal', present: 'function', confirm: 'function', timeout: 'seconds' });
    const { signal, present = presentInBrowser, confirm, timeout = A_DAY } = options;
    let begun;
    try {
      begun = await this.registration.begin(parameters, { signal });
    } catch (error) {
      // An earlier run of the program may have ended while the user was asked.
      const { state } = error.status === 'illegalState' ? await this.registration.state({}, { signal }) : {};
      if (state?.state !== 'awaitingConfirmation') throw error;
      return this.#answered(state, confirm, signal);
    }
    return this.#answered(await this.#outcome(begun, present, timeout, signal), confirm, signal);
  }

  /** Shows the user what to do, and waits for the outcome of the transaction. */
  async #outcome(begun, present, timeout, signal) {
    const { transaction, action } = begun;
    const left = new AbortController();
    const leave = () => left.abort(signal.reason);
    const stopWaiting = onAbort(signal, leave);
    if (signal?.aborted) leave();
    try {
      // The wait for the redirect starts first: with some browsers, `present` ends only when the user closes them.
      const outcome = this.registration.awaitOutcome({ transaction, timeout }, { signal: left.signal });
      const shown = (async () => !left.signal.aborted && present(action, begun))();
      const hint = setTimeout(warnOfMissingRedirect, REDIRECT_HINT_DELAY, action, begun.redirectUri);
      hint.unref();
      outcome.catch(() => {}).finally(() => clearTimeout(hint));
      const isNotShown = new Promise((_, reject) => shown.catch(reject));
      return (await Promise.race([outcome, isNotShown])).state;
    } catch (error) {
      left.abort();
      // Cancelling only reports to the core that nobody waits any more: if it fails, nothing is lost.
      if (!this.isClosed && error.status !== 'daemonEnded') await this.registration.cancel({ transaction }).catch(() => {});
      throw error;
    } finally {
      stopWaiting();
    }
  }

  /** The state after the user was asked to confirm the profile. The command names the transaction of that profile,
   * because another sign-in may have arrived meanwhile. */
  async #answered(state, confirm, signal) {
    if (!confirm || state.state !== 'awaitingConfirmation') return state;
    const { transaction } = state;
    const answer = (await confirm(state.profile)) ? 'confirm' : 'retry';
    return (await this.registration[answer]({ transaction }, { signal })).state;
  }

  /** A token that works; the call fails if there is none. */
  async accessToken(parameters = {}, options = {}) {
    const isPlain = isEmpty(parameters) && isEmpty(options);
    if (isPlain && !this.isClosed && this.#recent?.isCurrent(this.#changes)) return this.#recent.token;
    const next = new RecentToken(this.#changes);
    next.token = await this.#token('token.access', parameters, options, false);
    if (isPlain && next.token.outcome === 'valid') this.#recent = next;
    return next.token;
  }

  /** Renews the token now. */
  async refresh(parameters = {}, options = {}) {
    return this.#token('token.refresh', parameters, options);
  }

  async #token(command, parameters, options, isChange) {
    const result = await this.#call(command, parameters, options, isChange);
    try {
      return tokenOf(result);
    } catch (error) {
      throw this.#parts ? this.#parts.explained(error) : error;
    }
  }

  /** `fetch` with the token of this client. After a 401 the request is sent once more, with a renewed token. */
  async fetch(input, init = {}, audience = {}) {
    return fetchWith(this, input, init, audience);
  }

  /** Erases the tokens. Unless `localOnly` is set, it also tells the provider, and ends the session in the browser. */
  async logOut(parameters = {}, options = {}) {
    checkOptions('logOut', options, { signal: 'signal', present: 'function' });
    const { signal, present = ({ url }) => openBrowserSoon(url) } = options;
    const signOut = await this.logout.begin(parameters, { signal });
    if (signOut.url) await present(conceal({ type: 'openURL', url: signOut.url }));
    return signOut;
  }

  /** The events from now on, for `for await (const event of client.events())`. */
  events(options = {}) {
    checkOptions('events', options, { signal: 'signal' });
    const { signal } = options;
    const end = () => stream.end();
    const stopWaiting = onAbort(signal, end);
    const stream = new EventStream(this.#session.daemon, () => {
      this.#streams.delete(stream);
      stopWaiting();
    });
    if (this.isClosed || signal?.aborted) {
      stream.end();
      return stream;
    }
    this.#streams.add(stream);
    this.#subscribe().catch(end);
    return stream;
  }

  /** Subscribes before the next call is sent, so that no event of that call is missed. */
  #subscribe() {
    if (this.isClosed) return Promise.resolve();
    this.#subscribed ??= this.#call('events.subscribe', {}, {});
    return this.#subscribed;
  }

  /** Receives an event from the daemon; a call without a name means that no further event will arrive. */
  #take(name, parameters) {
    if (name === undefined) {
      this.#recent = undefined;
      for (const stream of [...this.#streams]) stream.end();
      return;
    }
    const event = { ...parameters, name };
    for (const stream of this.#streams) stream.push(event);
    // Emits the event later, outside the code that reads messages: an exception of a listener would stop that code.
    process.nextTick(() => this.emit(name, event));
  }

  /** Cancels the calls that wait in this client. The tokens stay in the store. A second call changes nothing. */
  close() {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close() {
    this.#recent = undefined;
    this.#session.daemon.stopListening(this.#id);
    try {
      await this.#session.close(this.#id);
    } catch (error) {
      // The daemon has ended or was closed, and so has the client.
      if (error.status !== 'daemonEnded' && error.status !== 'handle' && error.status !== 'cancelled') throw error;
    } finally {
      this.#take(undefined);
    }
  }

  toJSON() {
    return { client: this.#id };
  }
}

const isEmpty = (value) => isPlainObject(value) && Object.keys(value).length === 0;

/**
 * A token that is returned again for a tenth of a second without asking the daemon, unless a call of this client may
 * have changed it. The library itself trusts its own memory for one second.
 */
class RecentToken {
  static MOMENT = 100;

  constructor(changes) {
    this.changes = changes;
    this.end = clock.now().map((time) => time + RecentToken.MOMENT);
  }

  isCurrent(changes) {
    return changes === this.changes && clock.now().every((time, n) => time < this.end[n] && time >= this.end[n] - RecentToken.MOMENT);
  }
}

/** Two clocks in milliseconds: the first does not jump, the second counts while the machine sleeps. */
export const clock = { now: () => [performance.now(), Date.now()] };

/** Lets programs write `await using client = …`. */
if (Symbol.asyncDispose) {
  Object.defineProperty(EnrollClient.prototype, Symbol.asyncDispose, { value() { return this.close(); } });
}

/** Checks the options of a call, and those of its parameters that only this side can check. */
export function checkCall(command, parameters, options) {
  checkOptions(command, options, { signal: 'signal' });
  check(command, 'parameters', parameters, 'object');
  check(command, 'timeout', parameters.timeout, 'seconds');
  if (Object.hasOwn(parameters, 'client')) throw invalid('client', `${command}: client is not known: the client says itself which it is`);
}
