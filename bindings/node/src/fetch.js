// `fetch` with a client's access token, and with a proof if the token is of type DPoP (RFC 9449).

import { tokenOf } from './token.js';

/** Bodies that can be sent twice. */
const isRepeatable = (body) =>
  body === undefined || body === null || typeof body === 'string' || ArrayBuffer.isView(body) || body instanceof ArrayBuffer ||
  body instanceof URLSearchParams || body instanceof FormData || body instanceof Blob;

export async function fetchWith(client, input, init = {}) {
  const url = new URL(input);
  url.hash = '';
  const send = async (token, nonce) => {
    const headers = new Headers(init.headers);
    headers.set('Authorization', token.authorization);
    if (token.type.toLowerCase() === 'dpop') {
      const parameters = { method: (init.method ?? 'GET').toUpperCase(), url: url.href, accessToken: token.value };
      headers.set('DPoP', (await client.dpop.proof(nonce ? { ...parameters, nonce } : parameters)).proof);
    }
    return fetch(url, { ...init, headers });
  };
  const options = init.signal ? { signal: init.signal } : {};
  const token = await client.accessToken({}, options);
  const answer = await send(token);
  if (answer.status !== 401 || !isRepeatable(init.body)) return answer;
  const nonce = answer.headers.get('DPoP-Nonce');
  let again = token;
  try {
    // The server wants another nonce (RFC 9449 §9), or the token is no longer good there.
    if (!nonce) again = tokenOf(await client.token.rejected({ accessToken: token.value }, options));
  } catch {
    return answer;
  }
  await answer.body?.cancel();
  return send(again, nonce);
}
