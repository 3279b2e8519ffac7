// A daemon for this process: opens clients, and runs the commands that need no client.

import { checkCall, EnrollClient, group } from './client.js';
import { Daemon, timeoutOf } from './daemon.js';
import { failed, invalid } from './error.js';
import { check, checkOptions, conceal, isPlainObject, kindOf, storePath } from './given.js';
import { COMMANDS, STORES, VERSION } from './generated/surface.js';
import { findProgram } from './program.js';
import { Parts, Questions } from './questions.js';

const LEVELS = ['error', 'warning', 'info', 'debug'];
const KEYS = ['keys', 'newKeys'];

const toStandardError = (level, text) => void process.stderr.write(`enrolld: ${level}: ${text}\n`);

export class Enroll {
  static VERSION = VERSION;

  #daemon;
  #questions;

  /**
   * Starts a daemon. `program`: the enrolld to run; by default the one in ENROLLD, else the one in the
   * package. `logLevel`: error, warning (the default), info or debug. `log(level, text)`: gets the daemon's
   * log; by default it goes to standard error.
   */
  static async start(options = {}) {
    checkOptions('start', options, { program: 'text', logLevel: 'text', log: 'function' });
    const { program, logLevel = 'warning', log = toStandardError } = options;
    if (!LEVELS.includes(logLevel)) throw invalid('logLevel', `start: logLevel: expected ${LEVELS.join(', ')}`);
    const questions = new Questions((message) => daemon.reply(message));
    const daemon = new Daemon(findProgram(program), log, questions);
    await daemon.start(logLevel);
    return new Enroll(daemon, questions);
  }

  constructor(daemon, questions) {
    if (!(daemon instanceof Daemon)) throw new TypeError('an Enroll is made by Enroll.start()');
    this.#daemon = daemon;
    this.#questions = questions;
    for (const [name, verbs] of Object.entries(COMMANDS)) {
      Object.defineProperty(this, name, { value: group(name, verbs, (...call) => this.#runWithParts(...call)), enumerable: true });
    }
  }

  get processId() {
    return this.#daemon.processId;
  }

  /** Opens one account at one provider. Sends no request. */
  async open(options, { signal } = {}) {
    if (!isPlainObject(options)) throw invalid('options', `open: options: expected an object, got ${kindOf(options)}`);
    check('open', 'signal', signal, 'signal');
    check('open', 'configuration', options.configuration, 'object');
    const [parameters, parts] = withoutParts('client.open', options);
    const call = async () => {
      const unclaimed = ({ client }) => this.#close(client).catch(() => {});
      return (await this.#daemon.call('client.open', parameters, { signal, unclaimed })).client;
    };
    const id = await (parts ? this.#questions.opening(parts, call) : call());
    const session = {
      daemon: this.#daemon,
      run: (command, more, how, client) => this.#run(command, more, how, client),
      close: (client) => this.#close(client),
    };
    return new EnrollClient(id, session, parts);
  }

  async #close(client) {
    try {
      await this.#daemon.call('client.close', { client });
    } finally {
      this.#questions.closed(client);
    }
  }

  async #run(command, parameters, options, client) {
    checkCall(command, parameters, options);
    return conceal(await this.#daemon.call(command, client === undefined ? parameters : { ...parameters, client }, options));
  }

  async #runWithParts(command, parameters, options) {
    checkCall(command, parameters, options);
    const [sent, parts] = withoutParts(command, parameters);
    if (!parts) return this.#run(command, sent, options);
    const limit = timeoutOf(command, sent);
    // The time in the queue counts against the timeout.
    const run = (waited) => this.#run(command, limit === undefined ? sent : { ...sent, timeout: Math.max(0, limit - waited) }, options);
    return this.#questions.serving(parts, run, { command, signal: options.signal, limit });
  }

  /** Ends the daemon: waiting calls are cancelled, renewals that were sent are stored. A second call changes nothing. */
  close() {
    return this.#daemon.close();
  }
}

if (Symbol.asyncDispose) {
  Object.defineProperty(Enroll.prototype, Symbol.asyncDispose, { value() { return this.close(); } });
}

/** The parameters in the daemon's form, and this program's own transport and secret store (its parts)
 *  for the command. */
function withoutParts(command, given) {
  const what = command === 'client.open' ? 'open' : command;
  const parameters = { ...given };
  if (STORES.includes(command)) parameters.store = storePath(what, given.store);
  let secrets;
  for (const name of KEYS) {
    if (given[name] === undefined) continue;
    const host = hostOf(what, name, given[name]);
    if (!host) continue;
    if (secrets && secrets !== host) {
      throw failed('unsupported', `${what}: ${name}: a key cannot move from one of your secret stores to another; move it through another provider`, { field: name });
    }
    secrets = host;
    parameters[name] = { provider: 'host' };
  }
  let transport;
  if (Object.hasOwn(given, 'transport')) {
    check(what, 'transport', given.transport, 'function');
    transport = given.transport;
    if (transport) parameters.transport = 'host';
    else delete parameters.transport;
  }
  return [parameters, transport || secrets ? new Parts(transport, secrets) : undefined];
}

/** The program's own secret store in `keys`; undefined for the daemon's key providers. */
function hostOf(what, name, keys) {
  check(what, name, keys, 'object');
  if (!Object.hasOwn(keys, 'host')) {
    if (keys.provider === 'host') throw invalid(name, `${what}: ${name}: expected { host: a SecretStore } for the provider host`);
    return undefined;
  }
  const isStore = keys.host !== null && ['load', 'save', 'remove'].every((verb) => typeof keys.host?.[verb] === 'function');
  if (!isStore) throw invalid(`${name}.host`, `${what}: ${name}.host: expected an object with load, save and remove, got ${kindOf(keys.host)}`);
  return keys.host;
}

