// Checks the caller's arguments. A wrong argument causes an EnrollArgumentError, which names the key and never shows
// the value, which may be a secret.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { types } from 'node:util';

import { invalid } from './error.js';

/** The limit of the daemon for one message, in bytes. */
const MESSAGE_LIMIT = 1 << 20;

const { isNumberObject, isStringObject } = types;

export function kindOf(value) {
  if (value === null) return 'null';
  if (typeof value !== 'object') return value === undefined ? 'undefined' : `a ${typeof value}`;
  let name;
  try {
    if (Array.isArray(value)) return 'an array';
    name = value.constructor?.name;
  } catch {
    // A Proxy may throw when it is inspected.
  }
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `an object of class ${name}` : 'an object';
}

export function isPlainObject(value) {
  if (value === null || typeof value !== 'object') return false;
  const prototype = Object.getPrototypeOf(value);
  // The Object.prototype of another realm is a different object: one whose own prototype is null.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const TYPES = {
  object: [isPlainObject, 'an object'],
  text: [(value) => typeof value === 'string', 'a string'],
  function: [(value) => typeof value === 'function', 'a function'],
  signal: [(value) => typeof value?.addEventListener === 'function' && typeof value.aborted === 'boolean', 'an AbortSignal'],
  seconds: [(value) => typeof value === 'number' && value >= 0, '0 or more seconds as a number'],
};

/** Throws unless the value has the type; `undefined` is accepted. */
export function check(what, field, value, type) {
  const [isRight, expected] = TYPES[type];
  if (value !== undefined && !isRight(value)) throw invalid(field, `${what}: ${field}: expected ${expected}, got ${kindOf(value)}`);
}

/** Checks an object of options: {name: type}. Any other name is refused. */
export function checkOptions(what, options, types, field = 'options') {
  if (!isPlainObject(options)) throw invalid(field, `${what}: ${field}: expected an object, got ${kindOf(options)}`);
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(types, name)) {
      throw invalid(name, `${what}: ${name} is not known; expected ${Object.keys(types).join(', ')}`);
    }
    if (types[name]) check(what, name, value, types[name]);
  }
}

/** The store in the daemon's form: an absolute path, or 'memory'. */
export function storePath(what, value) {
  if (value instanceof URL && value.protocol === 'file:') return fileURLToPath(value);
  if (typeof value !== 'string' || value === '') {
    throw invalid('store', `${what}: store: expected a path, a file: URL or 'memory', got ${value === '' ? 'an empty string' : kindOf(value)}`);
  }
  if (value === 'memory') return value;
  if (value.startsWith('~')) {
    throw invalid('store', `${what}: store: expected a path without ~, which nothing expands; use os.homedir()`);
  }
  return path.resolve(value);
}

/** NUL and lone surrogates: the daemon refuses any message that contains them. */
const UNREADABLE = /\u{0}|\p{Surrogate}/u;

export const isUnreadable = (text) => UNREADABLE.test(text);

const shown = (key) => (key === '' || isUnreadable(key) ? 'a parameter' : key);

/** The daemon's limit for nested objects and lists. */
const DEPTH_LIMIT = 64;

/** How deeply the brackets of a JSON text are nested. Brackets in strings do not count. */
function depthOf(json) {
  let [depth, most, isString] = [0, 0, false];
  for (let at = 0; at < json.length; at++) {
    const one = json[at];
    if (isString) {
      if (one === '\\') at++;
      else if (one === '"') isString = false;
    } else if (one === '"') isString = true;
    else if (one === '{' || one === '[') most = Math.max(most, ++depth);
    else if (one === '}' || one === ']') depth--;
  }
  return most;
}

/** One message for the daemon, as a line. */
export function encoded(what, message) {
  const refuse = (key, given) => {
    // JSON.stringify writes a String or Number object as the primitive value inside it.
    const member = isStringObject(given) ? String(given) : isNumberObject(given) ? Number(given) : given;
    for (const text of [key, member]) {
      if (typeof text === 'string' && isUnreadable(text)) {
        throw invalid(key, `${what}: ${shown(key)} has a NUL character or half of a character, which JSON for the daemon cannot carry`);
      }
    }
    if (['function', 'symbol', 'bigint'].includes(typeof member) || (typeof member === 'number' && !Number.isFinite(member))) {
      const kind = typeof member === 'number' ? 'no finite number' : kindOf(member);
      throw invalid(key, `${what}: ${key} is ${kind}, which JSON cannot carry`);
    }
    return member;
  };
  let line;
  try {
    line = `${JSON.stringify(message, refuse)}\n`;
  } catch (error) {
    if (error.status) throw error;
    throw invalid('parameters', `${what}: the parameters are not JSON: they refer to themselves, or a toJSON failed`);
  }
  if (depthOf(line) > DEPTH_LIMIT) {
    throw invalid('parameters', `${what}: the parameters are nested too deeply; the daemon takes ${DEPTH_LIMIT} levels of a message`);
  }
  const size = Buffer.byteLength(line);
  if (size > MESSAGE_LIMIT) {
    throw invalid('parameters', `${what}: the parameters have ${size} bytes; the daemon takes at most ${MESSAGE_LIMIT}`);
  }
  return line;
}

/** Members of results that are secrets: read them by name. They are not enumerable, so that a result that is logged,
 *  stored or posted contains no secret. */
const SECRETS = ['accessToken', 'idToken', 'codeVerifier'];

/** A URL that carries the user's id_token (OpenID Connect RP-Initiated Logout §2) is a secret, too. */
const WITH_ID_TOKEN = /[?&#]id_token_hint=/;

export function conceal(result) {
  for (const name of SECRETS) hide(result, name);
  for (const one of [result, result.action]) {
    if (typeof one?.url === 'string' && WITH_ID_TOKEN.test(one.url)) hide(one, 'url');
  }
  return result;
}

function hide(object, name) {
  if (Object.hasOwn(object, name)) Object.defineProperty(object, name, { enumerable: false });
}
