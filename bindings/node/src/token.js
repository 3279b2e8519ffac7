// The class of access tokens, and the errors for outcomes without a token.

import { errorOf, failed } from './error.js';

const WORDS = {
  expired: 'the token expired, and renewing it failed',
  rejected: 'the provider refused to renew',
  reauthenticate: 'sign in again',
  storeLocked: 'the store is locked: its key is unavailable',
  busy: 'a renewal is in progress and did not end before the timeout',
};

/** A token that works. Only the members `value` and `authorization` show its value. */
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

  /** Whether the token is due and could not be renewed: it works until it expires. */
  get isStale() {
    return this.outcome === 'stale';
  }

  toString() {
    return `[AccessToken ${this.type}, ${this.outcome}]`;
  }
}

/** The token of an outcome. */
export function tokenOf(result) {
  const { outcome, error, reason, oauthErrorDescription, retryAfter } = result;
  if (outcome === 'valid' || outcome === 'stale') return new AccessToken(result);
  if (!Object.hasOwn(WORDS, outcome)) throw failed('internal', `this version of enrollkit does not know the outcome ${outcome}`);
  const cause = error && errorOf(error);
  const why = cause?.message ?? [reason, oauthErrorDescription].filter(Boolean).join(': ');
  const message = why ? `${WORDS[outcome]}: ${why}` : WORDS[outcome];
  // The reason is a sentence, or the provider's error code, which has no space (RFC 6749 §11.4).
  const ended = outcome === 'reauthenticate' && !reason?.includes(' ') ? reason : undefined;
  const told = {
    httpStatus: cause?.httpStatus,
    oauthError: cause?.oauthError ?? ended,
    oauthErrorDescription: cause?.oauthErrorDescription ?? oauthErrorDescription,
    retryAfter: retryAfter ?? cause?.retryAfter,
  };
  throw failed(outcome, message, told, cause && { cause });
}
