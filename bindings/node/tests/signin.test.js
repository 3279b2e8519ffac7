// A program uses the package as its user would, with a provider on this machine.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import test from 'node:test';
import { inspect } from 'node:util';

import { AccessToken } from 'enrollkit';
import { clock } from '../src/client.js';
import { REDIRECT_HINT_DELAY, warnOfMissingRedirect } from '../src/redirect_hint.js';
import { CUSTOM, folder, isThere, newStore, refused, runModule, Sandbox, started } from './stage.js';

const sandbox = await Sandbox.start();
test.after(() => sandbox.stop());
const FILE = { provider: 'file' };

test('a user signs in, renews and logs out', async (t) => {
  const enroll = await started(t);
  const client = await enroll.open({ configuration: sandbox.configuration(), store: newStore(), keys: FILE });
  assert.deepEqual(await client.registration.state(), { state: { state: 'unregistered' } });
  await assert.rejects(client.accessToken(), refused('reauthenticate'));

  const shown = [];
  const state = await client.signIn({ kind: 'signIn' }, {
    present: (action, begun) => { shown.push(action.type, begun.survivesProcess); return sandbox.present(action); },
  });
  assert.deepEqual(shown, ['openURL', false]);
  assert.equal(state.state, 'awaitingConfirmation');
  assert.equal(state.profile.name, 'Alice Example');
  assert.deepEqual(await client.registration.confirm(), { state: { state: 'active', reason: 'confirmed' } });

  const first = await client.accessToken();
  assert.ok(first instanceof AccessToken && first.expiresAt instanceof Date);
  assert.deepEqual([first.type, first.outcome, first.isStale, first.authorization], ['Bearer', 'valid', false, `Bearer ${first.value}`]);
  assert.equal((await client.token.access()).accessToken, first.value);
  const second = await client.refresh({ timeout: 20 });
  assert.notEqual(second.value, first.value);
  assert.equal((await client.accessToken({ minimumLifetime: 1 })).value, second.value);

  const { claims } = await client.identity.userinfo();
  assert.equal(claims.email, 'alice@example.com');
  assert.equal((await client.account.read()).accessToken, second.value);
  assert.deepEqual((await client.token.introspect()).active, true);

  const opened = [];
  const { url } = await client.logOut({}, { present: (action) => opened.push(action.url) });
  assert.ok(url.startsWith(sandbox.issuer));
  assert.deepEqual(opened, [url]);
  await assert.rejects(client.accessToken(), refused('reauthenticate'));
});

test("the provider's own words about its error are members of the error", async (t) => {
  const provider = await Sandbox.start();
  t.after(() => provider.stop());
  const enroll = await started(t);
  const client = await enroll.open({ configuration: provider.configuration({ redirectUri: CUSTOM }), store: newStore(), keys: FILE });
  const begun = await client.registration.begin();
  const url = await provider.play(begun.action.url);
  await provider.control('fault', { fault: 'oauthError', endpoint: 'token', value: 'unauthorized_client', times: 1 });
  await assert.rejects(client.registration.resume({ url }), (error) => {
    assert.deepEqual([error.oauthError, error.oauthErrorDescription], ['unauthorized_client', 'planned by the test']);
    return refused('oauth')(error);
  });
});

test('a session that the provider ended says why', async (t) => {
  const provider = await Sandbox.start();
  t.after(() => provider.stop());
  const client = await provider.signedIn(await started(t), { store: newStore() });
  await provider.control('fault', { fault: 'oauthError', endpoint: 'token', value: 'invalid_grant', times: 1 });
  await assert.rejects(client.refresh(), (error) => {
    assert.deepEqual([error.oauthError, error.oauthErrorDescription], ['invalid_grant', 'planned by the test']);
    return refused('reauthenticate')(error);
  });
});

test('a browser that stays away is warned of, with what to compare', async (t) => {
  const warned = once(process, 'warning');
  warnOfMissingRedirect({ type: 'enterCode' });
  warnOfMissingRedirect({ type: 'openURL', url: 'https://id.example/authorize?client_id=app&state=s' }, 'http://127.0.0.1:9/cb');
  const [warning] = await warned;
  assert.deepEqual([warning.name, warning.code], ['EnrollWarning', 'ENROLL_LONG_WAIT']);
  assert.match(warning.message, /client id: app, redirect URI: http:\/\/127\.0\.0\.1:9\/cb$/);

  const set = t.mock.method(globalThis, 'setTimeout');
  const enroll = await started(t);
  const client = await enroll.open({ configuration: sandbox.configuration(), store: newStore(), keys: FILE });
  await client.signIn({}, { present: (action) => sandbox.present(action) });
  const [hint] = set.mock.calls.filter((call) => call.arguments[0] === warnOfMissingRedirect);
  assert.equal(hint.arguments[1], REDIRECT_HINT_DELAY);
  assert.ok(hint.result._destroyed, 'it is not said once the browser is back');
});

test('the next start begins nothing, and the store lists its account', async (t) => {
  const store = newStore();
  const first = await sandbox.signedIn(await started(t), { store });
  const { value } = await first.accessToken();
  const enroll = await started(t);
  const client = await enroll.open({ configuration: sandbox.configuration(), store, keys: FILE });
  assert.equal((await client.accessToken()).value, value);
  assert.deepEqual(await enroll.accounts.list({ store, keys: FILE }), { accounts: ['default'] });
  assert.equal((await enroll.store.diagnose({ store: new URL(`file://${store}`), keys: FILE })).exists, true);
});

test('a redirect of a private-use scheme is passed in, also beside a sign-in that waits', async (t) => {
  const enroll = await started(t);
  const client = await enroll.open({ configuration: sandbox.configuration({ redirectUri: CUSTOM }), store: newStore(), keys: FILE });
  const state = await client.signIn({}, {
    present: async ({ url }) => void (await client.url.handle({ url: await sandbox.play(url) })),
    confirm: (profile) => profile.email === 'alice@example.com',
  });
  assert.deepEqual(state, { state: 'active', reason: 'confirmed' });
});

test('a profile that is not the user\'s is not confirmed', async (t) => {
  const enroll = await started(t);
  const client = await enroll.open({ configuration: sandbox.configuration(), store: newStore(), keys: FILE });
  const state = await client.signIn({}, { present: sandbox.present, confirm: () => false });
  assert.notEqual(state.state, 'active');
  await assert.rejects(client.accessToken(), refused('reauthenticate'));
});

test('a sign-in that ended at the question goes on with the question, without a browser', async (t) => {
  const enroll = await started(t);
  const opening = { configuration: sandbox.configuration(), store: newStore(), keys: FILE };
  const first = await enroll.open(opening);
  const left = () => Promise.reject(new Error('the program ended'));
  await assert.rejects(first.signIn({}, { present: sandbox.present, confirm: left }), /the program ended/);
  await first.close();

  const client = await enroll.open(opening);
  const present = () => assert.fail('a page was shown');
  const asked = await client.signIn({}, { present });
  assert.equal(asked.state, 'awaitingConfirmation');
  assert.deepEqual(await client.signIn({}, { present, confirm: ({ email }) => email === asked.profile.email }),
    { state: 'active', reason: 'confirmed' });
});

test('a yes to one profile confirms no other', async (t) => {
  const enroll = await started(t);
  const opening = { configuration: sandbox.configuration({ redirectUri: CUSTOM }), store: newStore(), keys: FILE };
  const [client, other] = [await enroll.open(opening), await enroll.open(opening)];
  const late = await other.registration.begin();
  const comes = async ({ url }) => void (await client.url.handle({ url: await sandbox.play(url) }));
  const another = async () => Boolean(await other.registration.resume({ url: await sandbox.play(late.action.url) }));
  await assert.rejects(client.signIn({}, { present: comes, confirm: another }), refused('illegalState', 'transaction'));
  const { profile, waiting } = await client.account.read();
  assert.deepEqual([profile, waiting.transaction], [undefined, late.transaction]);
});

test('without `present` the system\'s browser is opened', async (t) => {
  const enroll = await started(t);
  const client = await enroll.open({ configuration: sandbox.configuration(), store: newStore(), keys: FILE });
  const path = process.env.PATH;
  t.after(() => (process.env.PATH = path));
  const desktop = folder();
  const install = (body) => writeFileSync(`${desktop}/xdg-open`, `#!${process.execPath}\n${body}`, { mode: 0o755 });
  process.env.PATH = desktop;
  await assert.rejects(client.signIn(), refused('unsupported', 'present', /no browser could be opened/));
  install('process.exit(3)');
  await assert.rejects(client.signIn(), (error) => refused('unsupported', 'present')(error) && /status 3/.test(error.cause.message));
  // Alice signs in. Like some browsers, this program keeps running after that.
  install(`
    const json = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ do: 'settle', url: process.argv[2] }) };
    fetch(${JSON.stringify(`${sandbox.issuer}/_control`)}, json).then((answer) => answer.json()).then(({ redirect }) => fetch(redirect));
    process.stdin.resume(); setTimeout(() => {}, 2000);`);
  assert.deepEqual(await client.signIn({}, { confirm: () => true }), { state: 'active', reason: 'confirmed' });
  install('require("fs").writeFileSync(__dirname + "/opened", process.argv[2])');
  const { url } = await client.logOut();
  assert.equal(readFileSync(`${desktop}/opened`, 'utf8'), url);
});

test('logOut waits only a moment for a browser that stays open', async (t) => {
  const desktop = folder();
  writeFileSync(`${desktop}/xdg-open`, `#!/bin/sh\necho $$ $1 >${desktop}/opened\nexec ${process.execPath} -e 'setInterval(() => {}, 1000)'`, { mode: 0o755 });
  const store = newStore();
  await (await sandbox.signedIn(await started(t), { store })).close();
  const { status, out, err } = await runModule(`
    import { Enroll } from 'enrollkit';
    const enroll = await Enroll.start();
    const client = await enroll.open({ configuration: ${JSON.stringify(sandbox.configuration())}, store: ${JSON.stringify(store)}, keys: { provider: 'file' } });
    const { url } = await client.logOut();
    console.log(url);`, { env: { ...process.env, PATH: desktop } });
  const [browser, url] = readFileSync(`${desktop}/opened`, 'utf8').trim().split(' ');
  t.after(() => process.kill(browser, 'SIGKILL'));
  assert.deepEqual([status, out, err], [0, `${url}\n`, '']);
  assert.ok(isThere(browser));
});

test('a device without a browser shows a code', async (t) => {
  const enroll = await started(t);
  const own = await Sandbox.start('--device-interval', '1');
  t.after(() => own.stop());
  const client = await enroll.open({ configuration: own.configuration(), store: newStore(), keys: FILE });
  await assert.rejects(client.signIn({ kind: 'device' }), refused('unsupported', 'present', /showDeviceCode/));
  const state = await client.signIn({ kind: 'device' }, {
    present: ({ userCode }) => own.control('device', { userCode }),
    confirm: () => true,
  });
  assert.equal(state.state, 'active');
});

test('a user who refuses, a present that fails and an abort end the sign-in', async (t) => {
  const enroll = await started(t);
  const client = await enroll.open({ configuration: sandbox.configuration(), store: newStore(), keys: FILE });
  const refuse = async ({ url }) => {
    const { redirect } = await sandbox.control('settle', { url, error: 'access_denied' });
    await (await fetch(redirect)).text();
  };
  await assert.rejects(client.signIn({}, { present: refuse }), refused('accessDenied'));
  await assert.rejects(client.signIn({}, { present: () => { throw new RangeError('no screen'); } }), { name: 'RangeError' });

  const controller = new AbortController();
  const reason = new Error('the window was closed');
  const left = client.signIn({}, { signal: controller.signal, present: () => controller.abort(reason) });
  await assert.rejects(left, (error) => refused('cancelled')(error) && error.cause === reason);
  await assert.rejects(client.signIn({}, { signal: AbortSignal.abort() }), refused('cancelled'));
  await assert.rejects(client.signIn({}, { timeout: 0.2, present: () => {} }), refused('deadlineExceeded'));
  // None of these calls left anything behind.
  assert.deepEqual(await client.signIn({}, { present: sandbox.present, confirm: () => true }), { state: 'active', reason: 'confirmed' });
});

test('events come to listeners and to iterators, in order, and end with the client', async (t) => {
  const enroll = await started(t);
  const client = await sandbox.signedIn(enroll);
  const stream = client.events();
  const renewed = once(client, 'token.renewed');
  await client.refresh();
  const [event] = await renewed;
  assert.deepEqual(Object.keys(event).sort(), ['client', 'expiresAt', 'name']);
  let value;
  do ({ value } = await stream.next()); while (value.name !== 'token.renewed');
  assert.deepEqual(value, event);

  const left = new AbortController();
  const other = client.events({ signal: left.signal });
  const waiting = other.next();
  left.abort();
  assert.deepEqual(await waiting, { value: undefined, done: true });

  const names = [];
  const reading = (async () => { for await (const one of stream) names.push(one.name); })();
  await client.refresh();
  await client.registration.clear();
  await client.close();
  await reading;
  assert.ok(names.includes('token.renewed') && names.includes('registration.changed'), names.join());
  assert.deepEqual(await client.events().next(), { value: undefined, done: true });
});

test('a token is given out again for a moment without asking the daemon, never past a change', async (t) => {
  const enroll = await started(t);
  const client = await sandbox.signedIn(enroll);
  let moment = [1000, 2000];
  t.mock.method(clock, 'now', () => moment);
  const first = await client.accessToken();
  assert.equal(await client.accessToken(), first);
  assert.notEqual(await client.accessToken({ minimumLifetime: 1 }), first);
  assert.notEqual(await client.accessToken({}, { signal: new AbortController().signal }), first);
  for (const later of [[1100, 2050], [1050, 2100], [1050, 1999]]) {
    const known = await client.accessToken();
    moment = later;
    const other = await client.accessToken();
    assert.ok(other !== known && other.value === known.value, later.join());
    moment = [1000, 2000];
  }
  const renewed = await client.refresh();
  assert.notEqual(renewed.value, first.value);
  assert.equal((await client.accessToken()).value, renewed.value);
  await client.logOut({ localOnly: true }, { present: () => {} });
  await assert.rejects(client.accessToken(), refused('reauthenticate'));
  await client.close();
  await assert.rejects(client.accessToken(), refused('handle'));
});

test('no token appears by accident', async (t) => {
  const client = await sandbox.signedIn(await started(t));
  const token = await client.accessToken();
  const outcome = await client.token.access();
  const account = await client.account.read();
  for (const one of [token, outcome, account, client]) {
    for (const text of [inspect(one, { depth: 9 }), JSON.stringify(one), `${one}`, JSON.stringify({ ...one })]) {
      assert.ok(!text.includes(token.value) && !text.includes(account.idToken ?? token.value), text);
    }
  }
});

test('a URL with the user\'s id_token shows it only when read by name', async (t) => {
  const client = await sandbox.signedIn(await started(t));
  const { idToken } = await client.account.read();
  const path = process.env.PATH;
  t.after(() => (process.env.PATH = path));
  process.env.PATH = folder();
  const begun = await client.registration.begin({ options: { idTokenHint: idToken } });
  assert.ok(begun.action.url.includes(idToken));
  const fault = await client.signIn({ options: { idTokenHint: idToken } }).catch((error) => error);
  refused('unsupported', 'present')(fault);
  assert.equal(fault.cause.code, 'ENOENT');
  let action;
  const signOut = await client.logOut({}, { present: (one) => (action = one) });
  assert.ok(signOut.url.includes(`id_token_hint=${idToken}`) && action.url === signOut.url);
  for (const one of [begun, fault, signOut, action]) {
    for (const text of [inspect(one, { depth: 9 }), JSON.stringify(one), JSON.stringify({ ...one })]) assert.ok(!text.includes(idToken), text);
  }
});

test('fetch sends a request once more after a 401, with a renewed token, if its body can be sent again', async (t) => {
  const client = await sandbox.signedIn(await started(t));
  const { value } = await client.accessToken();
  const came = [];
  const api = createServer((request, response) => {
    request.resume();
    came.push(request.headers.authorization);
    response.writeHead(request.headers.authorization === `Bearer ${value}` ? 401 : 200).end();
  });
  await new Promise((resolve) => api.listen(0, '127.0.0.1', resolve));
  t.after(() => { api.close(); api.closeAllConnections(); });
  const url = `http://127.0.0.1:${api.address().port}/things`;
  const stream = new ReadableStream({ start(one) { one.enqueue(new Uint8Array(3)); one.close(); } });
  assert.equal((await client.fetch(url, { method: 'POST', body: stream, duplex: 'half' })).status, 401);
  assert.equal((await client.fetch(url, { method: 'POST', body: '{}' })).status, 200);
  assert.deepEqual(came, [`Bearer ${value}`, `Bearer ${value}`, `Bearer ${(await client.accessToken()).value}`]);
  assert.notEqual(came[2], came[1]);
});

/** A server that answers each request with `answer(request)`: [status, headers]. `came` has the data
 *  of each request. */
async function serving(t, answer) {
  const came = [];
  const server = createServer((request, response) => {
    request.resume();
    came.push({ url: request.url, method: request.method, authorization: request.headers.authorization });
    const [status, headers] = answer(request, came.length);
    response.writeHead(status, headers).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => { server.close(); server.closeAllConnections(); });
  return { came, origin: `http://127.0.0.1:${server.address().port}` };
}

test('fetch follows redirects as fetch does, and takes the token to no other origin', async (t) => {
  const client = await sandbox.signedIn(await started(t));
  const before = (await client.accessToken()).authorization;
  const other = await serving(t, (request) => (request.url === '/back' ? [302, { Location: `${api.origin}/chosen` }] : [401, {}]));
  const api = await serving(t, (request) => {
    if (request.url === '/around') return [302, { Location: `${other.origin}/back` }];
    if (request.url === '/chosen') return [401, {}];
    if (request.url === '/away') return [307, { Location: `${other.origin}/there` }];
    return request.url === '/old' ? [303, { Location: '/new' }] : [200, {}];
  });
  assert.equal((await client.fetch(`${api.origin}/away`, { headers: { Cookie: 'a=1' } })).status, 401);
  assert.deepEqual(other.came, [{ url: '/there', method: 'GET', authorization: undefined }]);
  // A 401 of another server causes no renewal.
  assert.equal((await client.accessToken()).authorization, before);
  // The token is not sent to an address that another server chose, not even at the first origin.
  assert.equal((await client.fetch(`${api.origin}/around`)).status, 401);
  assert.deepEqual(api.came.at(-1), { url: '/chosen', method: 'GET', authorization: undefined });
  assert.equal((await client.accessToken()).authorization, before);
  assert.equal((await client.fetch(`${api.origin}/old`, { method: 'POST', body: 'x' })).status, 200);
  assert.deepEqual(api.came.at(-1), { url: '/new', method: 'GET', authorization: before });
  assert.equal((await client.fetch(`${api.origin}/old`, { redirect: 'manual' })).status, 303);
  const loop = await serving(t, () => [302, { Location: '/' }]);
  await assert.rejects(client.fetch(loop.origin), TypeError);
  assert.equal(loop.came.length, 21);
});

test('a 401 renews a token that is refused, although the server sends a nonce with every answer', async (t) => {
  const client = await sandbox.signedIn(await started(t));
  const before = (await client.accessToken()).authorization;
  const api = await serving(t, (request, count) =>
    [count === 1 ? 401 : 200, { 'DPoP-Nonce': 'n', 'WWW-Authenticate': 'Bearer error="invalid_token"' }]);
  assert.equal((await client.fetch(api.origin)).status, 200);
  assert.equal(api.came[0].authorization, before);
  assert.notEqual(api.came[1].authorization, before);
});

test('fetch sends a token of either type', async (t) => {
  const own = await Sandbox.start('--dpop', 'required');
  t.after(() => own.stop());
  for (const [provider, type] of [[sandbox, 'Bearer'], [own, 'DPoP']]) {
    const client = await provider.signedIn(await started(t));
    const before = await client.accessToken();
    assert.equal(before.type, type);
    const answer = await client.fetch(`${provider.issuer}/userinfo`);
    assert.equal(answer.status, 200, await answer.clone().text());
    assert.equal((await answer.json()).email, 'alice@example.com');
  }
});

test('closing ends what waits, twice is as once, and calls after it are refused', async (t) => {
  const enroll = await started(t);
  const client = await enroll.open({ configuration: sandbox.configuration(), store: newStore(), keys: FILE });
  const { transaction } = await client.registration.begin();
  const waiting = assert.rejects(client.registration.awaitOutcome({ transaction, timeout: 600 }), refused('cancelled'));
  await enroll.system.describe();
  assert.equal(client.close(), client.close());
  await client.close();
  await waiting;
  assert.equal(client.isClosed, true);
  await assert.rejects(client.registration.state(), refused('handle'));
  await assert.rejects(client.signIn(), refused('handle'));

  const other = await enroll.open({ configuration: sandbox.configuration(), store: 'memory' });
  const begun = await other.registration.begin();
  const last = assert.rejects(other.registration.awaitOutcome({ transaction: begun.transaction, timeout: 600 }), refused('cancelled'));
  await enroll.system.describe();
  await Promise.all([enroll.close(), enroll.close()]);
  await last;
  await assert.rejects(enroll.pkce.generate(), refused('handle'));
  await assert.rejects(enroll.open({ configuration: {}, store: 'memory' }), refused('handle'));
  await assert.rejects(other.accessToken(), refused('handle'));
  await other.close();
  if (Symbol.asyncDispose) await enroll[Symbol.asyncDispose]();
});

test('a thousand calls at once each have an outcome, and one token', async (t) => {
  const client = await sandbox.signedIn(await started(t));
  const tokens = await Promise.all(Array.from({ length: 1000 }, () => client.accessToken()));
  assert.equal(new Set(tokens.map(({ value }) => value)).size, 1);
  const profiles = await Promise.allSettled(Array.from({ length: 1000 }, () => client.identity.profile()));
  for (const { status, reason } of profiles) assert.ok(status === 'fulfilled' || (reason.status === 'busy' && reason.retryable));
  assert.equal((await client.identity.profile()).claims.email, 'alice@example.com');
});

test('a provider that is down is an error of the network, and a session outlives it', async (t) => {
  const own = await Sandbox.start();
  t.after(() => own.stop());
  const enroll = await started(t);
  const client = await own.signedIn(enroll);
  const { value } = await client.accessToken();
  await own.stop();
  assert.equal((await client.accessToken()).value, value);
  const token = await client.refresh({ timeout: 5 }).catch((error) => error);
  assert.ok(token.value === value || token.retryable === true, String(token));
  const other = await enroll.open({ configuration: own.configuration(), store: 'memory' });
  await assert.rejects(other.signIn(), refused('network'));
});
