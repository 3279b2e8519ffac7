// `fetch` with a client's access token, and with a proof if the token is of type DPoP (RFC 9449). Redirects are followed here, as
// fetch does, but for the token: another origin never gets it, whatever the version of Node.js does with that header.

import { invalid } from './error.js';
import { tokenOf } from './token.js';

/** As many as fetch follows. */
const MOST_REDIRECTS = 20;

/** Bodies that can be sent twice. */
const isRepeatable = (body) =>
  body === undefined || body === null || typeof body === 'string' || ArrayBuffer.isView(body) || body instanceof ArrayBuffer ||
  body instanceof URLSearchParams || body instanceof FormData || body instanceof Blob;

/** Addresses of this machine: a token may go there without encryption. */
const isLoopback = (host) => host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

export async function fetchWith(client, input, init = {}, audience = {}) {
  const first = new URL(input);
  first.hash = '';
  if (first.protocol !== 'https:' && !(first.protocol === 'http:' && isLoopback(first.hostname))) {
    throw invalid('url', `fetch: url: expected https, or http to a loopback address, got ${first.protocol}//${first.host}; a token is not sent there`);
  }
  const options = init.signal ? { signal: init.signal } : {};
  let token = await client.accessToken(audience, options);
  let { answer, hasLeft, last } = await send(client, first, init, token, { url: first, method: (init.method ?? 'GET').toUpperCase(), body: init.body });
  // Each step once: another nonce if the server wants one (RFC 9449 §9), another token if this one is no longer good there.
  const steps = new Set();
  // What another server says of a token that it never got is none of the token's business.
  while (answer.status === 401 && isRepeatable(last.body) && !hasLeft) {
    const nonce = answer.headers.get('DPoP-Nonce');
    const wantsNonce = isDPoP(token) && isNonce(nonce) && /use_dpop_nonce/.test(answer.headers.get('WWW-Authenticate') ?? '');
    const step = wantsNonce && !steps.has('nonce') ? 'nonce' : 'renewal';
    if (steps.has(step)) break;
    steps.add(step);
    try {
      if (step === 'renewal') token = tokenOf(await client.token.rejected({ accessToken: token.value, ...audience }, options));
    } catch {
      if (!init.signal?.aborted) break;
      await answer.body?.cancel();
      throw init.signal.reason;
    }
    await answer.body?.cancel();
    // The request that was refused, and none before it: a redirect may stand behind a POST that was carried out.
    ({ answer, hasLeft, last } = await send(client, first, init, token, last, step === 'nonce' ? nonce : undefined));
  }
  return answer;
}

/** RFC 9449 §8.1. */
const isNonce = (text) => text !== null && /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/.test(text);

const isDPoP = (token) => token.type.toLowerCase() === 'dpop';

/** What becomes a GET has no body for these to describe (Fetch §4.4). */
const dropBody = (headers) => {
  for (const name of ['Content-Type', 'Content-Length', 'Content-Encoding', 'Content-Language']) headers.delete(name);
};

/** The answer at the end of the redirects, the request that it answers, and whether they left the first origin: an address that another
 *  origin chose gets no token, there or back. */
async function send(client, first, init, token, { url, method, body }, nonce) {
  const follows = (init.redirect ?? 'follow') === 'follow';
  const headers = new Headers(init.headers);
  if (body === undefined) dropBody(headers);
  let hasLeft = false;
  for (let count = 0; ; count++) {
    hasLeft ||= url.origin !== first.origin;
    if (!hasLeft) {
      headers.set('Authorization', token.authorization);
      if (isDPoP(token)) {
        const parameters = { method, url: url.href, accessToken: token.value };
        headers.set('DPoP', (await client.dpop.proof(nonce ? { ...parameters, nonce } : parameters)).proof);
      }
    } else {
      for (const name of ['Authorization', 'DPoP', 'Cookie', 'Proxy-Authorization']) headers.delete(name);
    }
    const answer = await fetch(url, { ...init, method, body, headers, redirect: follows ? 'manual' : init.redirect });
    const location = answer.headers.get('Location');
    if (!follows || ![301, 302, 303, 307, 308].includes(answer.status) || location === null) return { answer, hasLeft, last: { url, method, body } };
    await answer.body?.cancel();
    if (count === MOST_REDIRECTS) throw new TypeError(`fetch: more than ${MOST_REDIRECTS} redirects`);
    url = new URL(location, url);
    if (!['http:', 'https:'].includes(url.protocol)) throw new TypeError('fetch: a redirect leads to an address that is not http or https');
    if ((answer.status === 303 && !['GET', 'HEAD'].includes(method)) || ([301, 302].includes(answer.status) && method === 'POST')) {
      method = 'GET';
      body = undefined;
      dropBody(headers);
    } else if (!isRepeatable(body)) {
      throw new TypeError('fetch: a redirect asks for a body again that can be sent once');
    }
  }
}
