// client.fetch against a server of this process: one renewal, no token unencrypted, tokens for other audiences. What it does
// with redirects is in signin.test.js.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { Sandbox, newStore, refused, started } from './stage.js';

/** An API that refuses the token it saw first, after as many requests as `crowd` says; /never refuses every token. */
async function picky(t, crowd = 1) {
  const came = [];
  const waiting = [];
  const server = createServer((request, response) => {
    request.resume();
    const { authorization } = request.headers;
    came.push(authorization);
    if (authorization !== came[0]) return void response.writeHead(request.url === '/never' ? 401 : 200).end();
    waiting.push(response);
    if (waiting.length >= crowd) waiting.splice(0).forEach((one) => one.writeHead(401).end());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => { server.close(); server.closeAllConnections(); });
  return { came, url: `http://127.0.0.1:${server.address().port}` };
}

async function signedIn(t) {
  const sandbox = await Sandbox.start();
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
