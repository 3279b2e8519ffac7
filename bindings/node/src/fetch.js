// `fetch` with a client's access token, and with a proof if the token is of type DPoP (RFC 9449). This file follows
// redirects itself, in the same way as fetch. So another origin never gets the token, in any version of Node.js.

import { onAbort } from './abort.js';
import { invalid } from './error.js';
import { kindOf } from './given.js';
import { tokenOf } from './token.js';

/** The largest number of redirects that fetch follows. */
const MOST_REDIRECTS = 20;

/** Bodies that can be sent twice. */
const isRepeatable = (body) =>
  body === undefined || body === null || typeof body === 'string' || ArrayBuffer.isView(body) || body instanceof ArrayBuffer ||
  body instanceof URLSearchParams || body instanceof FormData || body instanceof Blob;

/** Addresses of this machine: a token may go there without encryption. */
const isLoopback = (host) => host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

export async function fetchWith(client, input, given, audience = {}) {
  const first = urlOf(input instanceof Request ? input.url : input);
  const init = initOf(input, given);
  try {
    return await exchange(client, first, input, init, audience);
  } catch (error) {
    // An abort throws the reason of the signal, as in fetch itself; also while the call waits for a token.
    throw error?.status === 'cancelled' && init.signal?.aborted ? init.signal.reason : error;
  }
}

async function exchange(client, first, input, init, audience) {
  const options = optionsOf(init);
  let token = await client.accessToken(audience, options);
  // There is no way to find out whether the body of a Request can be sent twice, so the body is read into memory.
  if (input instanceof Request && input.body && (init.body ?? undefined) === undefined) init.body = await wholeBody(input, init.signal);
  let { answer, hasLeft, last } = await send(client, first, init, token, { url: first, method: methodOf(init), body: init.body });
  // Each step happens once: another nonce if the server requires one (RFC 9449 §9), another token if the
  // server refuses this one.
  const steps = new Set();
  // After a redirect to another origin, a 401 says nothing about the token, which that server never got.
  while (answer.status === 401 && isRepeatable(last.body) && !hasLeft) {
    const nonce = answer.headers.get('DPoP-Nonce');
    const wantsNonce = isDPoP(token) && isNonce(nonce) && /use_dpop_nonce/.test(answer.headers.get('WWW-Authenticate') ?? '');
    const step = wantsNonce && !steps.has('nonce') ? 'nonce' : 'renewal';
    if (steps.has(step)) break;
    steps.add(step);
    try {
      if (step === 'renewal') token = tokenOf(await client.token.rejected({ accessToken: token.value, ...audience }, options));
    } catch (error) {
      if (!init.signal?.aborted) break;
      await answer.body?.cancel();
      throw error;
    }
    await answer.body?.cancel();
    // This repeats the request that was refused, not an earlier one: the redirect may follow a POST that was
    // carried out.
    ({ answer, hasLeft, last } = await send(client, first, init, token, last, step === 'nonce' ? nonce : undefined));
  }
  return answer;
}

/** Checks where the request goes. An error shows no part of the URL, which may hold secrets. */
function urlOf(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw invalid('url', `fetch: url: expected an absolute URL, got ${typeof text === 'string' ? 'a string that is none' : kindOf(text)}`);
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    const got = url.protocol === 'http:' ? `http to ${url.hostname}` : 'another scheme';
    throw invalid('url', `fetch: url: expected https, or http to a loopback address, got ${got}; a token is not sent there`);
  }
  if (url.username !== '' || url.password !== '') throw invalid('url', 'fetch: url: expected a URL without user name and password, got one with them');
  url.hash = '';
  return url;
}

/** The options as fetch reads them: a member of `given` overrides that of a Request. */
function initOf(input, given) {
  const members = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  if (!(input instanceof Request)) return Object.fromEntries(members);
  const { method, headers, redirect, signal, integrity, keepalive } = input;
  const init = { method, headers, redirect, signal, integrity, keepalive, ...Object.fromEntries(members) };
  if (!init.body && (input.bodyUsed || input.body?.locked)) {
    throw invalid('input', 'fetch: input: expected a Request whose body is unread, got one whose body was read; pass a clone()');
  }
  return init;
}

/** The options for the commands that this request runs and waits for. */
const optionsOf = ({ signal }) => (signal ? { signal } : {});

const methodOf = ({ method }) => String(method ?? 'GET').toUpperCase();

/** The body of a Request, in memory. */
async function wholeBody(request, signal) {
  let stopWaiting;
  const aborted = new Promise((_, reject) => (stopWaiting = onAbort(signal, () => reject(signal.reason))));
  try {
    return await Promise.race([request.arrayBuffer(), aborted]);
  } finally {
    stopWaiting();
  }
}

/** RFC 9449 §8.1. */
const isNonce = (text) => text !== null && /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/.test(text);

const isDPoP = (token) => token.type.toLowerCase() === 'dpop';

/** Removes the headers that describe a body, because a request that becomes a GET has none (Fetch §4.4). */
const dropBody = (headers) => {
  for (const name of ['Content-Type', 'Content-Length', 'Content-Encoding', 'Content-Language']) headers.delete(name);
};

/** The target of a redirect. The error of `new URL` would show the address. */
function redirected(location, from) {
  let url;
  try {
    url = new URL(location, from);
  } catch {
    throw new TypeError('fetch: a redirect leads to an address that cannot be read');
  }
  if (!['http:', 'https:'].includes(url.protocol)) throw new TypeError('fetch: a redirect leads to an address that is not http or https');
  if (url.username !== '' || url.password !== '') throw new TypeError('fetch: a redirect leads to an address with a user name or password');
  return url;
}

/** Sends a request and follows redirects. Returns the last response, the request that got it, and whether the
 * redirects left the first origin: after that, no address gets a token, not even one at the first origin. */
async function send(client, first, init, token, { url, method, body }, nonce) {
  const options = optionsOf(init);
  const follows = (init.redirect ?? 'follow') === 'follow';
  const headers = new Headers(init.headers);
  if (body === undefined) dropBody(headers);
  let hasLeft = false;
  for (let count = 0; ; count++) {
    hasLeft ||= url.origin !== first.origin;
    if (!hasLeft) {
      headers.set('Authorization', token.authorization);
      if (isDPoP(token)) {
        // The URL without its query, which is no part of `htu` (RFC 9449 §4.2).
        const parameters = { method, url: url.origin + url.pathname, accessToken: token.value };
        headers.set('DPoP', (await client.dpop.proof(nonce ? { ...parameters, nonce } : parameters, options)).proof);
      }
    } else {
      for (const name of ['Authorization', 'DPoP', 'Cookie', 'Proxy-Authorization']) headers.delete(name);
    }
    const answer = await fetch(url, { ...init, method, body, headers, redirect: follows ? 'manual' : init.redirect });
    const location = answer.headers.get('Location');
    if (!follows || ![301, 302, 303, 307, 308].includes(answer.status) || location === null) return { answer, hasLeft, last: { url, method, body } };
    await answer.body?.cancel();
    if (count === MOST_REDIRECTS) throw new TypeError(`fetch: more than ${MOST_REDIRECTS} redirects`);
    url = redirected(location, url);
    if ((answer.status === 303 && !['GET', 'HEAD'].includes(method)) || ([301, 302].includes(answer.status) && method === 'POST')) {
      method = 'GET';
      body = undefined;
      dropBody(headers);
    } else if (!isRepeatable(body)) {
      throw new TypeError('fetch: a redirect asks for a body again that can be sent once');
    }
  }
}
