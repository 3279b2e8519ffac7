// An access token as a program uses it, and the errors of the outcomes without one.

import { errorOf, failed } from './error.js';

const WORDS = {
  expired: 'the token expired, and renewing it failed',
  rejected: 'the provider refused to renew',
  reauthenticate: 'sign in again',
  storeLocked: 'the store is locked: its key is unavailable',
  busy: 'a renewal is in progress and did not end before the timeout',
};

/** A token that works. Nothing shows its value but the members `value` and `authorization`. */
export class AccessToken {
  constructor({ accessToken, tokenType, expiresAt, outcome, scope, error }) {
    Object.defineProperty(this, 'value', { value: accessToken });
    this.type = tokenType;
    this.expiresAt = expiresAt === undefined ? undefined : new Date(expiresAt * 1000);
    this.outcome = outcome;
    if (scope !== undefined) this.scope = scope;
    if (error !== undefined) this.error = errorOf(error);
  }

  /** The value of the header `Authorization`. */
  get authorization() {
    return `${this.type.toLowerCase() === 'bearer' ? 'Bearer' : this.type} ${this.value}`;
  }

  /** It is due and could not be renewed: it works until it expires. */
  get isStale() {
    return this.outcome === 'stale';
  }

  toString() {
    return `[AccessToken ${this.type}, ${this.outcome}]`;
  }
}

/** The token of an outcome. */
export function tokenOf(result) {
  const { outcome, error, reason, retryAfter } = result;
  if (outcome === 'valid' || outcome === 'stale') return new AccessToken(result);
  if (!Object.hasOwn(WORDS, outcome)) throw failed('internal', `this version of enrollkit does not know the outcome ${outcome}`);
  const cause = error && errorOf(error);
  const why = cause?.message ?? reason;
  const { httpStatus, oauthError } = cause ?? {};
  const message = why ? `${WORDS[outcome]}: ${why}` : WORDS[outcome];
  throw failed(outcome, message, { httpStatus, oauthError, retryAfter: retryAfter ?? cause?.retryAfter }, cause && { cause });
}
