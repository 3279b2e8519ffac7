// client.fetch against a server of this process: one renewal, no token unencrypted, tokens for other audiences.
// Redirects are tested in signin.test.js.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { inspect } from 'node:util';

import { Sandbox, newStore, refused, started, until } from './stage.js';

/** An API that refuses the first token that it gets. It answers these requests only after `crowd` of them have arrived.
 * At the path /never it refuses every token. */
async function picky(t, crowd = 1) {
  const came = [];
  const waiting = [];
  const server = createServer((request, response) => {
    request.resume();
    const { authorization } = request.headers;
    came.push(authorization);
    if (authorization !== came[0]) return void response.writeHead(request.url === '/never' ? 401 : 200).end('text');
    waiting.push(response);
    if (waiting.length >= crowd) waiting.splice(0).forEach((one) => one.writeHead(401).end('text'));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => { server.close(); server.closeAllConnections(); });
  return { came, url: `http://127.0.0.1:${server.address().port}` };
}

/** A server that answers each request with `answer(request)`: [status, headers]. `came` has the data
 *  of each request. */
async function serving(t, answer) {
  const came = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const { authorization, dpop } = request.headers;
    const proof = dpop && JSON.parse(Buffer.from(dpop.split('.')[1], 'base64url'));
    came.push({ method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(parts).toString(), authorization, proof });
    response.writeHead(...answer(request, came.length)).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => { server.close(); server.closeAllConnections(); });
  return { came, origin: `http://127.0.0.1:${server.address().port}` };
}

async function signedIn(t, ...options) {
  const sandbox = await Sandbox.start(...options);
  t.after(() => sandbox.stop());
  return { sandbox, client: await sandbox.signedIn(await started(t)) };
}

test('fifty requests at once share one renewal', async (t) => {
  const { sandbox, client } = await signedIn(t);
  const api = await picky(t, 50);
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.fetch(api.url)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(api.came.length, 100);
  assert.equal((await sandbox.control('counts')).refreshes, 1);
});

test('a second 401 is the caller\'s, after one renewal', async (t) => {
  const { sandbox, client } = await signedIn(t);
  const api = await picky(t);
  assert.equal((await client.fetch(`${api.url}/never`)).status, 401);
  assert.equal(api.came.length, 2);
  assert.equal((await sandbox.control('counts')).refreshes, 1);
});

test('a POST behind a redirect is not sent again: what was refused is', async (t) => {
  const { client } = await signedIn(t);
  const came = [];
  let refusals = 1;
  const server = createServer((request, response) => {
    request.resume();
    came.push(`${request.method} ${request.url}`);
    if (request.url === '/go') return void response.writeHead(303, { Location: '/there' }).end();
    response.writeHead(refusals-- > 0 ? 401 : 200).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => { server.close(); server.closeAllConnections(); });
  const answer = await client.fetch(`http://127.0.0.1:${server.address().port}/go`, { method: 'POST', body: 'pay' });
  assert.equal(answer.status, 200);
  assert.deepEqual(came, ['POST /go', 'GET /there', 'GET /there']);
});

test('an end that the caller wants during the renewal is the end', async (t) => {
  const { sandbox, client } = await signedIn(t);
  const api = await picky(t);
  await sandbox.control('fault', { fault: 'delay', value: 20000, endpoint: 'token' });
  const wish = new AbortController();
  const waiting = client.fetch(api.url, { signal: wish.signal });
  while (api.came.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  wish.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
});

test('no token is sent unencrypted', async (t) => {
  const { client } = await signedIn(t);
  for (const url of ['http://api.example/', 'http://127.0.0.1.example/', 'http://localhost.example/', 'ftp://127.0.0.1/']) {
    await assert.rejects(client.fetch(url), refused('invalidArgument', 'url', /expected https, or http to a loopback address/));
  }
});

test('a Request is sent as it is, twice if need be', async (t) => {
  const { client } = await signedIn(t);
  const api = await serving(t, (_, count) => [count === 1 ? 401 : 200]);
  const wish = new AbortController();
  const given = { method: 'PUT', headers: { 'X-Mark': 'kept', 'Content-Type': 'text/x' }, body: 'whole', signal: wish.signal };
  const request = new Request(`${api.origin}/things?q=1`, given);
  assert.equal((await client.fetch(request)).status, 200);
  const seen = api.came.map(({ method, url, headers, body }) => [method, url, headers['x-mark'], headers['content-type'], body]);
  assert.deepEqual(seen, Array(2).fill(['PUT', '/things?q=1', 'kept', 'text/x', 'whole']));
  assert.notEqual(api.came[0].authorization, api.came[1].authorization);
  // The members of init override those of the Request.
  assert.equal((await client.fetch(new Request(api.origin, given), { method: 'POST', body: 'other', headers: undefined })).status, 200);
  assert.deepEqual([api.came[2].method, api.came[2].body, api.came[2].headers['x-mark']], ['POST', 'other', 'kept']);
  await assert.rejects(client.fetch(request), refused('invalidArgument', 'input', /body was read/));
  wish.abort();
  await assert.rejects(client.fetch(new Request(api.origin, given)), { name: 'AbortError' });
  assert.equal(api.came.length, 3);
});

test('an odd URL is one documented error, which shows nothing of the URL', async (t) => {
  const { client } = await signedIn(t);
  const odd = ['', 'hidden', '/hidden', '//hidden', 'https://', 'https://a b/hidden', 'https://[hidden', 'https://x:hidden/', 'hidden:x',
    'data:,hidden', 'https://hidden:x@api.example/', 'https://hidden@api.example/', 'http://hidden:x@127.0.0.1/',
    undefined, null, 7, Symbol('hidden'), {}, { toString() { throw new Error('hidden'); } }];
  for (const url of odd) {
    const error = await client.fetch(url).catch((fault) => fault);
    refused('invalidArgument', 'url')(error);
    assert.doesNotMatch(inspect(error, { depth: 9 }).replace(error.stack, '') + error.message, /hidden/);
  }
});

test('a redirect to an odd address is an error of fetch, which shows nothing of the address', async (t) => {
  const { client } = await signedIn(t);
  for (const location of ['http://[hidden', 'hidden:x', 'http://hidden:x@127.0.0.1/', 'https://hidden@api.example/']) {
    const api = await serving(t, () => [302, { Location: location }]);
    const error = await client.fetch(api.origin).catch((fault) => fault);
    assert.equal(error.name, 'TypeError', location);
    assert.doesNotMatch(inspect(error, { depth: 9 }), /hidden/);
    assert.equal(api.came.length, 1);
  }
});

test('no other origin gets token or proof, however its address is written', async (t) => {
  const { client } = await signedIn(t, '--dpop', 'required');
  const other = await serving(t, () => [200]);
  const port = other.origin.split(':')[2];
  const addresses = [`http:\\\\127.0.0.1:${port}/`, `//127.0.0.1:${port}`, `\\\\127.0.0.1:${port}/`, `http://0x7f.1:${port}/`, `HTTP://LOCALHOST:${port}/`,
    `http://127.0.0.1\t:${port}/`, `/\t/127.0.0.1:${port}/`, `http:/\\127.0.0.1:${port}/`];
  for (const address of addresses) {
    const before = other.came.length;
    const api = await serving(t, () => [307, { Location: address }]);
    await client.fetch(api.origin, { method: 'POST', body: 'x' }).catch((error) => assert.equal(error.message, 'fetch failed'));
    assert.equal(api.came.length, 1);
    assert.ok(api.came[0].authorization && api.came[0].proof);
    for (const { headers } of other.came.slice(before)) assert.deepEqual([headers.authorization, headers.dpop], [undefined, undefined], address);
  }
  assert.ok(other.came.length >= addresses.length - 1);
});

test('a proof is for the URL that is sent, without query and fragment', async (t) => {
  const { client } = await signedIn(t, '--dpop', 'required');
  const api = await serving(t, (request) => (request.url === '/go' ? [302, { Location: '/there?q=50%#part' }] : [200]));
  for (const url of ['/a%2Fb', '//x//y', '/a/../b', '/a/%2E%2e/b', '/\u00e9 b', '/a\\b', '/x?q=100%&r[]={}|', `/x?q=${'y'.repeat(9000)}`, '/x#part', '/go']) {
    assert.equal((await client.fetch(api.origin + url)).status, 200);
    const { proof, url: sent } = api.came.at(-1);
    assert.equal(proof.htu, api.origin + sent.split('?')[0]);
  }
});

test('an end that the caller wants before the first request is the end', async (t) => {
  const { sandbox, client } = await signedIn(t);
  const api = await serving(t, () => [200]);
  await sandbox.control('fault', { fault: 'delay', value: 20000, endpoint: 'token' });
  const wish = new AbortController();
  const before = (await sandbox.control('counts')).counts.token;
  const waiting = client.fetch(api.origin, { signal: wish.signal }, { scope: ['profile'] });
  await until(async () => (await sandbox.control('counts')).counts.token > before, 'the renewal began');
  wish.abort('no more');
  assert.equal(await waiting.catch((reason) => reason), 'no more');
  assert.equal(api.came.length, 0);
});

test('an API that refuses every token causes one renewal', async (t) => {
  const { sandbox, client } = await signedIn(t);
  const api = await serving(t, () => [401]);
  for (let count = 0; count < 5; count++) assert.equal((await client.fetch(api.origin)).status, 401);
  assert.equal((await sandbox.control('counts')).refreshes, 1);
});

test('the 401 that a second answer replaces is cancelled, so that its connection is free', async (t) => {
  const { client } = await signedIn(t);
  const api = await picky(t);
  const answers = [];
  const real = globalThis.fetch;
  t.mock.method(globalThis, 'fetch', async (...given) => {
    const answer = await real(...given);
    answers.push(answer);
    return answer;
  });
  assert.equal((await client.fetch(api.url)).status, 200);
  assert.deepEqual(answers.map(({ status, bodyUsed }) => [status, bodyUsed]), [[401, true], [200, false]]);
});

test('a closed client sends nothing', async (t) => {
  const { client } = await signedIn(t);
  const api = await serving(t, () => [200]);
  const last = client.fetch(api.origin);
  const closed = client.close();
  await Promise.allSettled([last, closed]);
  const before = api.came.length;
  await assert.rejects(client.fetch(api.origin), refused('handle'));
  assert.equal(api.came.length, before);
});

test('a token for an audience is asked for, and renewed for it', async (t) => {
  const { client } = await signedIn(t);
  const api = await picky(t);
  const scope = ['profile'];
  const [own, narrow] = [await client.accessToken(), await client.accessToken({ scope })];
  assert.notEqual(own.value, narrow.value);
  assert.equal((await client.fetch(api.url, {}, { scope })).status, 200);
  assert.deepEqual(api.came, [narrow.authorization, (await client.accessToken({ scope })).authorization]);
  assert.equal((await client.accessToken()).value, own.value);
});

test('a request gets the nonce that the server requires, without a renewal', async (t) => {
  const sandbox = await Sandbox.start('--dpop', 'required', '--demand-nonces');
  t.after(() => sandbox.stop());
  const client = await sandbox.signedIn(await started(t));
  assert.equal((await client.fetch(`${sandbox.issuer}/userinfo`)).status, 200);
  assert.equal((await sandbox.control('counts')).refreshes, 0);
});

test('a nonce that is none is not the caller\'s mistake', async (t) => {
  const sandbox = await Sandbox.start('--dpop', 'required');
  t.after(() => sandbox.stop());
  const client = await sandbox.signedIn(await started(t));
  for (const nonce of ['a"b', 'a\\b', 'x'.repeat(1025)]) {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(401, { 'DPoP-Nonce': nonce, 'WWW-Authenticate': 'DPoP error="use_dpop_nonce"' }).end();
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => { server.close(); server.closeAllConnections(); });
    assert.equal((await client.fetch(`http://127.0.0.1:${server.address().port}/`)).status, 401);
  }
});

test('an error about a configuration names the key as it is written', async (t) => {
  const enroll = await started(t);
  const configuration = { issuer: 'https://id.example', clientId: 'app', redirectUri: 'http://127.0.0.1/callback' };
  const opening = (changes) => enroll.open({ configuration: { ...configuration, ...changes }, store: newStore(), keys: { provider: 'file' } });
  await assert.rejects(opening({ clientId: undefined }), refused('configuration', 'clientId', /^clientId: the key is missing/));
  await assert.rejects(opening({ redirectUri: 'http://app.example/' }), refused('configuration', 'redirectUri', /^redirectUri: /));
  await assert.rejects(opening({ clientID: 'app' }), refused('configuration', 'clientID', /perhaps clientId was meant/));
  const snake = { redirectUri: undefined, redirect_uri: configuration.redirectUri };
  await assert.rejects(opening({ ...snake, clientId: undefined }), refused('configuration', 'client_id', /^client_id: the key is missing/));
});
