// The errors of this package. The manifest defines their names and numbers; no text holds a secret.

import { ERRORS } from './generated/surface.js';

const OPTIONAL = ['field', 'httpStatus', 'oauthError', 'oauthErrorDescription', 'retryAfter', 'reason'];

function fill(error, detail) {
  error.status = detail.status;
  error.code = detail.code;
  error.blame = detail.blame;
  error.retryable = detail.retryable;
  for (const name of OPTIONAL) {
    if (detail[name] !== undefined) error[name] = detail[name];
  }
}

/** The error as JSON, with its message, which a log needs and JSON.stringify would leave out. */
const written = (error) => ({ name: error.name, message: error.message, ...error });

/** Why something failed. */
export class EnrollError extends Error {
  constructor(detail, options) {
    super(detail.message, options);
    fill(this, detail);
  }

  toString() {
    return `EnrollError ${this.status}: ${this.message}`;
  }

  toJSON() {
    return written(this);
  }
}

/** An argument is missing, of the wrong type or out of range: the status `invalidArgument`. `field` names it. */
export class EnrollArgumentError extends TypeError {
  constructor(detail, options) {
    super(detail.message, options);
    fill(this, detail);
  }

  toJSON() {
    return written(this);
  }
}

for (const kind of [EnrollError, EnrollArgumentError]) {
  Object.defineProperty(kind.prototype, 'name', { value: kind.name, configurable: true, writable: true });
}

/** The error for an error object of the manifest. */
export function errorOf(detail, options) {
  const known = ERRORS[detail.status] ?? { code: 0, blame: 'internal', retryable: false };
  const kind = detail.status === 'invalidArgument' ? EnrollArgumentError : EnrollError;
  return new kind({ ...known, ...detail, message: String(detail.message ?? 'the error has no message') }, options);
}

/** An error that this package itself found. */
export const failed = (status, message, more, options) => errorOf({ status, message, ...more }, options);

export const invalid = (field, message) => failed('invalidArgument', message, { field });

/** The error of a cancelled call. `cause`: the reason with which the caller aborted it. */
export const cancelled = (what, cause) => failed('cancelled', `${what} was cancelled`, {}, cause === undefined ? {} : { cause });

/** No daemon can be started: enrolld is absent, or does not fit this package. */
export const unusable = (message, options) => failed('unsupported', message, { blame: 'host' }, options);

/** The daemon ended during a call, or the program is no enrolld. The store is unchanged. */
export const ended = (message) => failed('daemonEnded', message, { code: 0, blame: 'host', retryable: false });
