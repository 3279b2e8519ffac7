// One process of enrolld and the conversation with it: JSON-RPC 2.0, one message per line (docs/json-rpc.md).
//
// While no call waits, the process does not keep node's event loop alive: an idle daemon does not keep a
// program from ending. The daemon ends by itself when its input ends.

import { spawn } from 'node:child_process';

import { onAbort } from './abort.js';
import { cancelled, ended, errorOf, failed, unusable } from './error.js';
import { encoded } from './given.js';
import { ABI, TIMED, VERSION } from './generated/surface.js';
import { notStarted } from './program.js';

/** The limit for a line from the daemon, in bytes: more than the daemon ever queues for a host that reads slowly. */
const LONGEST_LINE = 1 << 26;
/** How long to wait for the daemon's end, in milliseconds; the daemon itself needs at most 30 seconds. */
const LONGEST_END = 40_000;
/** How many seconds longer than the daemon this process waits, so that the daemon's timeout passes
 *  first if possible. */
const GRACE = 1;
const A_DAY = 86_400;

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

export class Daemon {
  #program;
  #process;
  #log;
  #questions;
  #listeners = new Map();
  #waiting = new Map();
  #lastId = 0;
  #holds = 0;
  #lastWords = '';
  /** The reason why no call is possible any more. */
  #end;
  #isClosed = false;
  #closing;
  #gone;

  constructor(program, log, questions) {
    this.#program = program;
    this.#log = log;
    this.#questions = questions;
  }

  /** Starts the program, and asks for its version. */
  async start(logLevel) {
    try {
      this.#process = spawn(this.#program, ['--log-level', logLevel], {
        stdio: ['pipe', 'pipe', 'pipe'],
        // The daemon gets a separate session (setsid): this process decides what Ctrl-C in the terminal does.
        detached: true,
      });
    } catch (fault) {
      throw notStarted(this.#program, fault);
    }
    const child = this.#process;
    const started = new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    try {
      await started;
    } catch (fault) {
      throw notStarted(this.#program, fault);
    }
    this.#gone = new Promise((resolve) => this.#listen(child, resolve));
    this.#unref();
    await this.#checkDescription();
  }

  async #checkDescription() {
    let described;
    try {
      described = await this.call('system.describe', {}, { limit: 30 });
      if (described.name !== 'EnrollKit' || !Number.isInteger(described.abi)) throw failed('internal', 'its description is not one of EnrollKit');
    } catch (fault) {
      await this.close(true);
      throw unusable(`${this.#program} does not answer as enrolld does: ${fault.message}`, { cause: fault });
    }
    const [major, minor] = [described.abi >>> 16, described.abi & 0xffff];
    if (major !== ABI >>> 16 || minor < (ABI & 0xffff)) {
      await this.close();
      throw unusable(
        `enrollkit ${VERSION} needs an enrolld with interface ${ABI >>> 16}.${ABI & 0xffff} or a later minor one; ` +
          `${this.#program} ${described.version} has ${major}.${minor}`,
      );
    }
  }

  get processId() {
    return this.#process.pid;
  }

  /** Passes the events of one client to a listener, until the client or the daemon ends. */
  listen(client, listener) {
    this.#listeners.set(client, listener);
  }

  stopListening(client) {
    this.#listeners.delete(client);
  }

  /**
   * The result of a command. `signal` ends the wait, and so does the timeout of the parameters. `limit`, in
   * seconds, is a timeout for a command that has no timeout itself. `unclaimed` is called with a result that arrives
   * after the wait has ended.
   */
  async call(command, parameters, { signal, limit, unclaimed } = {}) {
    if (this.#end) throw this.#theEnd();
    if (signal?.aborted) throw cancelled(command, signal.reason);
    const id = ++this.#lastId;
    const [sent, seconds] = withTimeout(command, parameters, limit);
    const line = encoded(command, { jsonrpc: '2.0', id, method: command, params: sent });
    const answer = await this.#answer(id, line, signal, seconds, unclaimed);
    // The error is made here, so that its stack names the caller.
    if (answer.aborted) throw cancelled(command, signal.reason);
    if (answer.late) throw failed('deadlineExceeded', `${command} did not end before its timeout`);
    if (answer.unread) {
      throw failed('internal', `${command}: ${answer.unread}. All calls that waited end with this error; the next call works`);
    }
    if (answer.gone) throw this.#isClosed ? cancelled(command) : this.#theEnd();
    if (answer.error) throw errorOf(detailOf(answer.error));
    return isObject(answer.result) ? answer.result : {};
  }

  #answer(id, line, signal, seconds, unclaimed) {
    this.hold();
    return new Promise((resolve) => {
      let timer;
      const settle = (answer) => {
        clearTimeout(timer);
        stopWaiting();
        this.release();
        resolve(answer);
      };
      const giveUp = (answer) => {
        if (unclaimed) this.#waiting.set(id, { settle: (late) => late.result && unclaimed(late.result) });
        else this.#waiting.delete(id);
        this.#write(encoded('$/cancelRequest', { jsonrpc: '2.0', method: '$/cancelRequest', params: { id } }));
        settle(answer);
      };
      const stopWaiting = onAbort(signal, () => giveUp({ aborted: true }));
      if (seconds !== undefined) timer = setTimeout(giveUp, seconds * 1000, { late: true });
      this.#waiting.set(id, { settle, giveUp });
      this.#write(line);
    });
  }

  /** Answers a request of the daemon. */
  reply(message) {
    this.#write(`${JSON.stringify(message)}\n`);
  }

  #write(line) {
    // The daemon never stops reading, so this buffer does not grow.
    if (this.#process.stdin.writable) this.#process.stdin.write(line);
  }

  /**
   * Ends the daemon: calls that wait for a user are cancelled, others are answered if that is possible soon, and the
   * outcome of a request that was sent to the provider is stored. A second call changes nothing. `isForeign`: the
   * program is not enrolld, and may not end by itself.
   */
  close(isForeign = false) {
    this.#closing ??= this.#close(isForeign);
    return this.#closing;
  }

  async #close(isForeign) {
    this.#isClosed = true;
    this.#end ??= failed('handle', 'the daemon is closed');
    this.hold();
    // A daemon that still has clients must be able to send requests for their renewals: its input stays open.
    if (this.#questions.isServing) this.#process.kill('SIGTERM');
    else this.#process.stdin.end();
    if (isForeign) this.#process.kill('SIGKILL');
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), LONGEST_END);
    await this.#gone;
    clearTimeout(timer);
    this.release();
  }

  /** The process of this program does not end by itself until `release` was called for each `hold`. */
  hold() {
    if (this.#holds++ === 0) for (const one of this.#handles()) one.ref();
  }

  release() {
    if (--this.#holds === 0) this.#unref();
  }

  #unref() {
    if (this.#holds === 0) for (const one of this.#handles()) one.unref();
  }

  #handles() {
    const { stdin, stdout, stderr } = this.#process;
    return [this.#process, stdin, stdout, stderr].filter((one) => !one.destroyed);
  }

  #listen(child, finished) {
    const messages = new Lines(LONGEST_LINE, (line) => this.#receive(line), () => this.#give('wrote a line that is too long'));
    child.stdout.on('data', (chunk) => messages.add(chunk));
    const words = new Lines(1 << 16, (line) => this.#pass(line.toString()), () => {});
    child.stderr.on('data', (chunk) => words.add(chunk));
    child.stdin.on('error', () => this.#give('closed its input', 1000));
    for (const stream of [child.stdout, child.stderr]) stream.on('error', () => {});
    child.on('error', () => {});
    // Another process may hold the daemon's output open: after the daemon's end, its output is read for at
    // most a second.
    let wait;
    child.once('exit', () => (wait = setTimeout(() => child.emit('enrolld.over'), 1000)));
    child.stdout.once('end', () => this.#give('closed its output', 1000));
    const over = () => {
      clearTimeout(wait);
      child.removeAllListeners('close');
      child.removeAllListeners('enrolld.over');
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      this.#over(howItEnded(child));
      finished();
    };
    child.once('close', over);
    child.once('enrolld.over', over);
  }

  #pass(line) {
    if (line.trim() === '') return;
    this.#lastWords = line.trim().slice(0, 500);
    const found = /^(?:enrolld: )?(error|warning|info|debug): (.*)$/.exec(this.#lastWords);
    this.#log(found ? found[1] : 'warning', found ? found[2] : this.#lastWords);
  }

  #receive(line) {
    if (this.#end && !this.#isClosed) return;
    let message;
    try {
      message = JSON.parse(line.toString());
    } catch {
      message = undefined;
    }
    if (!isObject(message) || message.jsonrpc !== '2.0') {
      this.#give('wrote a line that is not a JSON-RPC message');
      return;
    }
    const { id, method } = message;
    const params = isObject(message.params) ? message.params : {};
    if (method === '$/cancelRequest') this.#questions.givenUp(params.id);
    else if (method !== undefined && id !== undefined) this.#questions.asked(id, method, params);
    else if (method !== undefined) this.#listeners.get(params.client)?.(method, params);
    else if (this.#waiting.has(id)) {
      const { settle } = this.#waiting.get(id);
      this.#waiting.delete(id);
      settle(message);
    } else if ((id === null || id === undefined) && message.error) this.#refused(message.error);
  }

  /** The daemon could not read a message, and cannot say which. So every waiting call ends: otherwise, one of them
   *  would wait for ever. */
  #refused({ code, message }) {
    const unread = `the daemon could not read a message of this process (${code}: ${message})`;
    this.#log('error', unread);
    for (const { giveUp } of [...this.#waiting.values()]) giveUp?.({ unread });
  }

  /** Gives up the daemon's process as unusable: waiting calls fail at once. `time`: how long the process may take to
   * end by itself, in milliseconds. */
  #give(words, time = 0) {
    if (this.#end) return;
    const give = () => {
      if (this.#end) return;
      this.#fail(words);
      this.#process.kill('SIGTERM');
      setTimeout(() => this.#process.kill('SIGKILL'), LONGEST_END).unref();
    };
    if (time === 0) give();
    else setTimeout(give, time).unref();
  }

  #over(words) {
    this.#fail(words);
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of listeners) listener(undefined, {});
  }

  #fail(words) {
    const name = this.#program.replace(/^.*\//, '');
    const last = this.#lastWords ? `; the last line of its log: ${this.#lastWords}` : '';
    this.#end ??= ended(`${name} ${words}${last}`);
    this.#questions.end();
    for (const { settle } of [...this.#waiting.values()]) settle({ gone: true });
    this.#waiting.clear();
  }

  #theEnd() {
    return errorOf({ ...this.#end, message: this.#end.message });
  }
}

/** Splits the received bytes into lines. */
class Lines {
  #parts = [];
  #size = 0;

  constructor(limit, take, refuse) {
    Object.assign(this, { limit, take, refuse });
  }

  add(chunk) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#parts.push(chunk.subarray(start, end));
      const line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#size = 0;
      start = end + 1;
      this.take(line);
    }
    if (start === chunk.length) return;
    this.#parts.push(chunk.subarray(start));
    this.#size += chunk.length - start;
    if (this.#size <= this.limit) return;
    this.#parts = [];
    this.#size = 0;
    this.refuse();
  }
}

/** The timeout of a command in seconds; undefined for a command to which the daemon applies no timeout. */
export const timeoutOf = (command, { timeout }) =>
  Object.hasOwn(TIMED, command) ? Math.min(timeout ?? TIMED[command], A_DAY) : undefined;

/** The parameters with the daemon's timeout in whole seconds, and the timeout of this side. */
function withTimeout(command, parameters, limit) {
  const seconds = timeoutOf(command, parameters);
  if (seconds === undefined) return [parameters, limit];
  const whole = Math.ceil(seconds);
  return [{ ...parameters, timeout: whole }, whole === seconds ? seconds + GRACE : seconds];
}

function detailOf(error) {
  if (isObject(error.data) && typeof error.data.status === 'string') return error.data;
  return { status: 'internal', message: `the daemon answered ${error.code}: ${error.message}` };
}

function howItEnded({ signalCode, exitCode }) {
  if (signalCode) return `was killed by ${signalCode}`;
  return exitCode === null ? 'closed its output' : `ended with status ${exitCode}`;
}
