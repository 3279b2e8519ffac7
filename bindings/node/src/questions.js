// The daemon's requests to this process: HTTP and secrets (docs/json-rpc.md, "What the daemon asks its host").
//
// An exception of the program's own code stays in this process: the daemon gets a status, and the call that fails
// because of it gets the exception as its cause.

import { onAbort } from './abort.js';
import { cancelled, failed } from './error.js';
import { isUnreadable, kindOf } from './given.js';
import { ERRORS } from './generated/surface.js';

const METHOD_NOT_FOUND = -32601;
const MESSAGE_LIMIT = 1 << 20;
const SECRET_SIZE = 32;
const OF_TRANSPORTS = ['network', 'tls', 'timeout', 'responseInvalid', 'cancelled'];

/** The program's own transport and secret store (its parts) for one client, or for one command without a client, with
 *  their last failures. */
export class Parts {
  #failures = new Map();

  constructor(transport, secrets) {
    this.transport = transport;
    this.secrets = secrets;
  }

  worked(part) {
    this.#failures.delete(part);
  }

  failed(part, exception, means, told) {
    this.#failures.set(part, { exception, means, told });
  }

  /** Returns the error. If the program's own transport or secret store caused it, the value that was thrown there
   *  becomes its cause. */
  explained(error) {
    // The failure is kept until the part works again, because one failure may fail many calls.
    for (const [part, { exception, means, told }] of this.#failures) {
      const isAboutKeys = part === 'transport' && error.status === 'keysUnavailable';
      if (!isAboutKeys && told !== error.status && told !== error.cause?.status) continue;
      if (error.status === told && told !== means) {
        return failed('internal', `the program's own ${part} failed: ${nameOf(exception)}`, {}, { cause: exception });
      }
      error.cause = exception;
    }
    return error;
  }
}

/** Returns the result of `look`, or `otherwise` if `look` throws: a thrown value may be a Proxy, or have
 * getters that throw. */
function looked(look, otherwise) {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

const nameOf = (exception) => {
  const name = looked(() => exception instanceof Error && exception.name, undefined);
  return typeof name === 'string' ? name : kindOf(exception);
};

/** The requests that one daemon waits for. `reply` sends a message. */
export class Questions {
  #reply;
  #open = new Map();
  #parts = new Map();
  #opening = 0;
  #early = [];
  /** Serializes commands without a client: the daemon's requests for them do not say to which command they
   * belong. */
  #turn = Promise.resolve();
  #current;

  constructor(reply) {
    this.#reply = reply;
  }

  get isServing() {
    return this.#parts.size > 0 || this.#open.size > 0 || this.#current !== undefined;
  }

  /** Runs `open`, which returns a client's id. The daemon may send requests for that client before its id is known. */
  async opening(parts, open) {
    this.#opening += 1;
    try {
      const id = await open();
      this.#parts.set(id, parts);
      return id;
    } finally {
      this.#opening -= 1;
      for (const question of this.#early.splice(0)) this.#find(question);
    }
  }

  closed(client) {
    this.#parts.delete(client);
  }

  /** Runs a command that has no client and needs these parts, by `run(waited)`. `waited` is how many seconds the
   *  command waited for its turn; `signal` and `limit` (in seconds) end that wait, too. */
  async serving(parts, run, { command, signal, limit }) {
    const before = this.#turn;
    let done;
    const isDone = new Promise((resolve) => (done = resolve));
    // If a command leaves the queue, the others keep their order.
    this.#turn = before.then(() => isDone);
    const start = performance.now();
    try {
      await turn(before, command, signal, limit);
      this.#current = parts;
      try {
        return await run((performance.now() - start) / 1000);
      } finally {
        this.#current = undefined;
      }
    } catch (error) {
      throw parts.explained(error);
    } finally {
      done();
    }
  }

  asked(id, method, parameters) {
    const question = { id, method, parameters, left: new AbortController(), isOver: false };
    this.#open.set(id, question);
    this.#find(question);
  }

  #find(question) {
    if (question.isOver) return;
    const { client } = question.parameters;
    question.parts = client === undefined ? this.#current : this.#parts.get(client);
    if (!question.parts && client !== undefined && this.#opening > 0) this.#early.push(question);
    else this.#answer(question);
  }

  /** The daemon no longer waits for the answer to that request. */
  givenUp(id) {
    const question = this.#open.get(id);
    if (!question) return;
    this.#open.delete(id);
    question.isOver = true;
    question.left.abort();
  }

  /** The daemon has ended. */
  end() {
    for (const id of [...this.#open.keys()]) this.givenUp(id);
  }

  async #answer(question) {
    const message = await settled(question);
    if (question.isOver) return;
    this.#open.delete(question.id);
    question.isOver = true;
    this.#reply(message);
  }
}

/** Waits until the commands before this one have ended. */
function turn(before, command, signal, limit) {
  let [timer, stopWaiting] = [undefined, () => {}];
  const left = new Promise((_, reject) => {
    const leave = () => reject(cancelled(command, signal.reason));
    stopWaiting = onAbort(signal, leave);
    if (signal?.aborted) leave();
    const late = () => reject(failed('deadlineExceeded', `${command} did not begin before its timeout: another command with your own parts runs`));
    if (limit !== undefined) timer = setTimeout(late, limit * 1000);
  });
  return Promise.race([before, left]).finally(() => {
    clearTimeout(timer);
    stopWaiting();
  });
}

/** The message that answers a request of the daemon. */
async function settled(question) {
  const answer = Object.hasOwn(METHODS, question.method) && METHODS[question.method];
  if (!answer) return refusal(question, METHOD_NOT_FOUND);
  const part = question.method === 'host.http.send' ? 'transport' : 'secret store';
  try {
    const message = { jsonrpc: '2.0', id: question.id, result: await answer(question) };
    if (Buffer.byteLength(JSON.stringify(message)) > MESSAGE_LIMIT) return refused(question, 'responseInvalid');
    question.parts.worked(part);
    return message;
  } catch (exception) {
    const means = part === 'transport' ? looked(() => transportStatus(exception), 'internal') : looked(() => secretStatus(exception), 'storeIO');
    // The daemon does not accept `internal` here: the call ends with `network`, and `failed` records the real status
    // for that call.
    const told = means === 'internal' ? 'network' : means;
    if (!question.isOver) question.parts?.failed(part, exception, means, told);
    return refused(question, told, part === 'transport' && looked(() => wasNotSent(exception), false));
  }
}

const refusal = ({ id }, code, data) => ({ jsonrpc: '2.0', id, error: { code, message: data?.status ?? 'method not found', ...(data && { data }) } });
const refused = (question, status, notSent = false) =>
  refusal(question, ERRORS[status].code - 32_000, notSent ? { status, notSent } : { status });

const METHODS = {
  async 'host.http.send'({ parameters, parts, left }) {
    if (!parts?.transport) throw failed('network', 'the client of this transport is closed');
    const { method, url, headers, body = '', bodyBase64, responseLimit, needsFreshConnection, timeout } = parameters;
    const request = {
      method, url, headers, responseLimit, needsFreshConnection, timeout,
      body: bodyBase64 === undefined ? Buffer.from(body) : Buffer.from(bodyBase64, 'base64'),
      signal: left.signal,
    };
    // The request may hold tokens: these members are only visible when they are read by name.
    for (const name of ['url', 'headers', 'body']) Object.defineProperty(request, name, { enumerable: false });
    return responseOf(await parts.transport(request), responseLimit);
  },

  async 'host.store.get'({ parameters, parts }) {
    const secret = await secretsOf(parts).load(parameters.name);
    return secret === undefined || secret === null ? {} : { secret: textOf(secret) };
  },

  async 'host.store.set'({ parameters, parts }) {
    await secretsOf(parts).save(parameters.name, new Uint8Array(Buffer.from(parameters.secret, 'base64url')));
    return {};
  },

  async 'host.store.remove'({ parameters, parts }) {
    await secretsOf(parts).remove(parameters.name);
    return {};
  },
};

function secretsOf(parts) {
  if (!parts?.secrets) throw failed('storeIO', 'the client of this secret store is closed');
  return parts.secrets;
}

function textOf(secret) {
  if (!(secret instanceof Uint8Array)) throw new TypeError(`a secret store must return a Uint8Array, got ${kindOf(secret)}`);
  if (secret.length !== SECRET_SIZE) throw new RangeError(`a secret must have ${SECRET_SIZE} bytes, got ${secret.length}`);
  return Buffer.from(secret).toString('base64url');
}

/** The response of a transport in the daemon's form. */
function responseOf(response, limit) {
  if (response === null || typeof response !== 'object') {
    throw new TypeError(`a transport must return { status, headers, body }, got ${kindOf(response)}`);
  }
  const { status, headers = {}, body = '' } = response;
  if (!Number.isInteger(status) || status < 100 || status > 599) throw new RangeError('a transport must return a status of 100 to 599');
  const result = { status, headers: {} };
  const pairs = typeof headers[Symbol.iterator] === 'function' ? headers : Object.entries(headers);
  const seen = new Set();
  for (const [name, value] of pairs) {
    const found = Array.isArray(value) ? value[0] : value;
    if (typeof name !== 'string' || typeof found !== 'string') throw new TypeError('a header must be a name and a value, both strings');
    if (isUnreadable(name) || isUnreadable(found)) {
      throw failed('responseInvalid', 'a header of the response has a NUL character or half of a character');
    }
    // Of several headers with one name the first counts.
    if (!seen.has(name.toLowerCase())) result.headers[name] = found;
    seen.add(name.toLowerCase());
  }
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError(`a transport must return a body that is a string or a Uint8Array, got ${kindOf(body)}`);
  }
  const bytes = Buffer.from(body);
  if (bytes.length > limit) throw failed('responseInvalid', `the response has ${bytes.length} bytes; expected at most ${limit}`);
  if (bytes.length > 0) result.bodyBase64 = bytes.toString('base64');
  return result;
}

/** The maximum number of causes that are followed, because a chain of causes may be circular. */
const MOST_CAUSES = 16;

/** The status for the value that a transport threw. `fetch` wraps the failure of its connection. */
function transportStatus(exception) {
  if (OF_TRANSPORTS.includes(exception?.status)) return exception.status;
  if (exception?.name === 'TimeoutError') return 'timeout';
  if (exception?.name === 'AbortError') return 'cancelled';
  for (let [fault, left] = [exception, MOST_CAUSES]; fault instanceof Error && left > 0; fault = fault.cause, left--) {
    if (typeof fault.code !== 'string') continue;
    if (/CERT|TLS|SSL|SIGNATURE|UNABLE_TO_/.test(fault.code)) return 'tls';
    if (/TIMEOUT|TIMEDOUT/.test(fault.code)) return 'timeout';
    if (/^(E[A-Z]+|UND_ERR_SOCKET)$/.test(fault.code)) return 'network';
  }
  return 'internal';
}

/** Whether nothing of a request left this machine: the transport says so, or the connection was never made. */
function wasNotSent(exception) {
  if (exception?.notSent === true) return true;
  for (let [fault, left] = [exception, MOST_CAUSES]; fault instanceof Error && left > 0; fault = fault.cause, left--) {
    // An error about several addresses does not name a system call; the errors inside it do.
    const faults = Array.isArray(fault.errors) && fault.errors.length > 0 ? fault.errors : [fault];
    const isUnsent = ({ syscall, code }) => ['connect', 'getaddrinfo'].includes(syscall) || code === 'UND_ERR_CONNECT_TIMEOUT';
    if (faults.every((one) => one instanceof Error && isUnsent(one))) return true;
  }
  return false;
}

/** The status for the value that a secret store threw. */
const secretStatus = (exception) => (exception?.status === 'storeLocked' ? 'storeLocked' : 'storeIO');
