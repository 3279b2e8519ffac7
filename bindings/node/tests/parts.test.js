// The program's own HTTP and its own secrets.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { inspect } from 'node:util';

import { CUSTOM, newStore, refused, Sandbox, started, until } from './stage.js';

const sandbox = await Sandbox.start();
test.after(() => sandbox.stop());

async function send({ method, url, headers, body, signal }) {
  const answer = await fetch(url, { method, headers, body: body.length ? body : undefined, redirect: 'manual', signal });
  return { status: answer.status, headers: answer.headers, body: new Uint8Array(await answer.arrayBuffer()) };
}

class Memory {
  kept = new Map();
  asked = [];
  load(name) { this.asked.push('load'); return this.kept.get(name); }
  async save(name, secret) { this.asked.push('save'); this.kept.set(name, secret); }
  remove(name) { this.asked.push('remove'); this.kept.delete(name); }
}

test('a program\'s own HTTP sends every request of its client', async (t) => {
  const seen = [];
  const transport = (request) => {
    seen.push(`${request.method} ${new URL(request.url).pathname}`);
    assert.ok(!inspect(request, { depth: 9 }).includes('http'), 'a logged request shows no URL');
    assert.ok(request.body instanceof Uint8Array && request.timeout > 0 && request.responseLimit > 0);
    assert.equal(typeof request.needsFreshConnection, 'boolean');
    return send(request);
  };
  const client = await sandbox.signedIn(await started(t), { transport });
  await client.refresh();
  assert.equal((await client.identity.userinfo()).claims.email, 'alice@example.com');
  assert.ok(seen.includes('POST /token') && seen.some((one) => one.startsWith('GET ')), seen.join());
});

test('what a transport throws is the cause of the call that failed, and stays in this process', async (t) => {
  const enroll = await started(t);
  for (const [fault, status] of [
    [Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), 'network'],
    [new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code: 'ENOTFOUND' }) }), 'network'],
    [Object.assign(new Error('self-signed'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), 'tls'],
    [new DOMException('late', 'TimeoutError'), 'timeout'],
    [new RangeError('a bug with a secret'), 'internal'],
    ['no error at all', 'internal'],
  ]) {
    const client = await enroll.open({ configuration: sandbox.configuration(), store: 'memory', transport: () => { throw fault; } });
    await assert.rejects(client.registration.begin(), (error) => {
      refused(status)(error);
      assert.equal(error.cause, fault);
      assert.ok(!error.message.includes('secret'));
      return true;
    });
    await client.close();
  }
  for (const answer of [undefined, { status: 99 }, { status: 200, body: 7 }, { status: 200, headers: { a: 7 } }]) {
    const client = await enroll.open({ configuration: sandbox.configuration(), store: 'memory', transport: async () => answer });
    await assert.rejects(client.registration.begin(), (error) => refused('internal')(error) && /^a (transport|header)/.test(error.cause.message));
  }
  for (const headers of [{ a: 'b\0c' }, { 'a\0': 'b' }, { a: '\udc00' }, [['Date', 'x\ud800']], { a: ['\0'] }]) {
    const client = await enroll.open({ configuration: sandbox.configuration(), store: 'memory', transport: () => ({ status: 200, headers }) });
    await assert.rejects(client.registration.begin(), (error) =>
      refused('responseInvalid')(error) && /^a header of the response has a NUL character/.test(error.cause.message));
  }
  const long = await enroll.open({
    configuration: sandbox.configuration(), store: 'memory', transport: () => ({ status: 200, body: new Uint8Array(600_000) }),
  });
  await assert.rejects(long.registration.begin(), refused('responseInvalid'));
});

test('a code that was not sent is not spent: the sign-in waits, and goes on with the same redirect', async (t) => {
  const enroll = await started(t);
  const failed = (message, more) => Object.assign(new Error(message), more);
  for (const [fault, isUnsent] of [
    [failed('refused', { code: 'ECONNREFUSED', syscall: 'connect' }), true],
    [new TypeError('fetch failed', { cause: failed('no', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }) }), true],
    [new TypeError('fetch failed', { cause: new AggregateError([failed('late', { code: 'ETIMEDOUT', syscall: 'connect' })]) }), true],
    [failed('offline', { status: 'network', notSent: true }), true],
    [failed('reset', { code: 'ECONNRESET', syscall: 'read' }), false],
    [new TypeError('fetch failed', { cause: new AggregateError([failed('a', { syscall: 'connect' }), failed('b', { syscall: 'write' })]) }), false],
  ]) {
    let isBroken = true;
    const transport = (request) => {
      if (isBroken && new URL(request.url).pathname === '/token') throw fault;
      return send(request);
    };
    const client = await enroll.open({ configuration: sandbox.configuration({ redirectUri: CUSTOM }), store: 'memory', transport });
    const url = await sandbox.play((await client.registration.begin()).action.url);
    await assert.rejects(client.registration.resume({ url }));
    isBroken = false;
    const again = client.registration.resume({ url });
    if (isUnsent) assert.equal((await again).state.state, 'awaitingConfirmation', String(fault));
    else await assert.rejects(again, String(fault));
    await client.close();
  }
});

/** A value that throws when it is inspected; the values that it throws do the same. */
const hostile = () => {
  const traps = { get: () => { throw own; }, getPrototypeOf: () => { throw own; }, has: () => { throw own; }, ownKeys: () => { throw own; } };
  const own = new Proxy({}, traps);
  return own;
};

test('what cannot be looked at, or leads back to itself, ends the call that needed it', async (t) => {
  const enroll = await started(t);
  const thrown = hostile();
  const gone = Proxy.revocable([], {});
  gone.revoke();
  const loop = new Error('round and round');
  loop.cause = new Error('and back', { cause: loop });
  for (const transport of [
    () => { throw thrown; }, async () => { throw thrown; }, () => thrown, () => ({ status: 200, headers: thrown }), () => ({ status: 200, body: thrown }),
    () => { throw gone.proxy; }, () => ({ status: 200, body: gone.proxy }), () => { throw loop; },
    () => { throw Object.defineProperty(new Error('x'), 'name', { get() { throw thrown; } }); },
  ]) {
    const client = await enroll.open({ configuration: sandbox.configuration(), store: 'memory', transport });
    await assert.rejects(client.registration.begin(), refused('internal', undefined, /^the program's own transport failed: /), String(transport));
    await client.close();
  }
  const host = { load: () => { throw thrown; }, save() {}, remove() {} };
  const client = await enroll.open({ configuration: sandbox.configuration(), store: newStore(), keys: { host } });
  await assert.rejects(client.accessToken(), (error) => refused('storeIO')(error) && error.cause === thrown);
});

test('a command that waits for its turn ends with its signal and with its timeout', async (t) => {
  const enroll = await started(t);
  const [asked, went] = [[], []];
  const transport = (name) => ({ signal }) => new Promise((resolve, reject) => {
    asked.push(name);
    went.push(() => reject(Object.assign(new Error(name), { code: 'ECONNREFUSED' })));
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  const discover = (name, more, options) => enroll.resource.discover({ resource: 'https://r.example', transport: transport(name), ...more }, options);
  const first = assert.rejects(discover('first'), refused('network'));
  await until(() => asked.length === 1, 'the first command runs');
  const left = new AbortController();
  const reason = new Error('enough');
  const aborted = assert.rejects(discover('aborted', {}, { signal: left.signal }), (error) => refused('cancelled')(error) && error.cause === reason);
  const late = assert.rejects(discover('late', { timeout: 0.05 }), refused('deadlineExceeded', undefined, /^resource\.discover did not begin before its timeout/));
  const last = assert.rejects(discover('last'), refused('network'));
  left.abort(reason);
  await Promise.all([aborted, late]);
  await assert.rejects(discover('never', {}, { signal: AbortSignal.abort() }), refused('cancelled'));
  // Commands that were cancelled in the queue do not let a later command run before the first one has ended.
  assert.deepEqual(asked, ['first']);
  went[0]();
  await first;
  await until(() => asked.length === 2, 'the last command runs');
  went[1]();
  await last;
  assert.deepEqual(asked, ['first', 'last']);
});

test('a request that nobody waits for any more is aborted', async (t) => {
  const enroll = await started(t);
  let asked;
  const transport = (request) => new Promise((resolve, reject) => {
    asked = request;
    request.signal.addEventListener('abort', () => reject(request.signal.reason));
  });
  const client = await enroll.open({ configuration: sandbox.configuration(), store: 'memory', transport });
  const left = new AbortController();
  const begun = client.registration.begin({}, { signal: left.signal });
  await until(() => asked, 'the transport is called');
  left.abort();
  await assert.rejects(begun, refused('cancelled'));
  await until(() => asked.signal.aborted, 'the transport is told');
});

test('a store whose key is with the program opens only with it', async (t) => {
  const enroll = await started(t);
  const [store, host] = [newStore(), new Memory()];
  const client = await sandbox.signedIn(enroll, { store, keys: { host } });
  assert.equal([...host.kept.values()].every((secret) => secret instanceof Uint8Array && secret.length === 32), true);
  assert.ok(host.kept.size > 0 && host.asked.includes('save'));
  const { value } = await client.accessToken();
  await client.close();

  const again = await enroll.open({ configuration: sandbox.configuration(), store, keys: { host } });
  assert.equal((await again.accessToken()).value, value);
  const both = await Promise.all([enroll.accounts.list({ store, keys: { host } }), enroll.store.diagnose({ store, keys: { host } })]);
  assert.deepEqual(both[0], { accounts: ['default'] });
  assert.equal(both[1].problem, undefined);
  await again.close();

  const fault = Object.assign(new Error('asleep'), { status: 'storeLocked' });
  const asleep = { load() { throw fault; }, save() { throw fault; }, remove() { throw fault; } };
  await assert.rejects(
    enroll.open({ configuration: sandbox.configuration(), store, keys: { host: asleep } }).then((one) => one.accessToken()),
    (error) => refused('storeLocked')(error) && error.cause === fault);
  await assert.rejects(enroll.accounts.list({ store, keys: { host: asleep } }).then((told) => assert.fail(JSON.stringify(told))), (error) => error.cause === fault || error.code === 'ERR_ASSERTION');
  const short = { ...asleep, load: () => new Uint8Array(31) };
  await assert.rejects(
    enroll.open({ configuration: sandbox.configuration(), store, keys: { host: short } }).then((one) => one.accessToken()),
    (error) => refused('storeIO')(error) && /32 bytes, got 31/.test(error.cause.message));

  // Once the key has moved to a file, the program no longer has it.
  await assert.rejects(enroll.store.rekey({ store, keys: { host }, newKeys: { host: new Memory() } }), refused('unsupported', 'newKeys'));
  assert.deepEqual(await enroll.store.rekey({ store, keys: { host }, newKeys: { provider: 'file' } }), { provider: 'file' });
  const moved = await enroll.open({ configuration: sandbox.configuration(), store, keys: { provider: 'file' } });
  assert.equal((await moved.accessToken()).value, value);
  assert.equal(readFileSync(path.join(store, 'key')).length > 0, true);
});

test('closing while a renewal is under way stores its tokens', async (t) => {
  const own = await Sandbox.start();
  t.after(() => own.stop());
  const enroll = await started(t);
  let hold;
  const held = [];
  const transport = async (request) => {
    const answer = await send(request);
    if (hold && request.url.endsWith('/token')) {
      held.push(request.url);
      await new Promise((resolve) => (hold = resolve));
    }
    return answer;
  };
  const store = newStore();
  const client = await own.signedIn(enroll, { store, transport });
  const { value } = await client.accessToken();
  hold = () => {};
  const renewing = client.refresh().catch((error) => error);
  await until(() => held.length > 0 && hold.length >= 0, 'the renewal was sent');
  const closing = enroll.close();
  setImmediate(() => hold());
  await closing;
  await renewing;
  const other = await started(t);
  const reopened = await other.open({ configuration: own.configuration(), store, keys: { provider: 'file' } });
  assert.notEqual((await reopened.accessToken()).value, value);
});
