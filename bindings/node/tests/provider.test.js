// A real provider with a real browser: Canaille and Chromium. The tests of the Python binding start the process that
// runs both.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';

import { newStore, refused, started, TOP } from './stage.js';

const CUSTOM = 'com.example.app:/cb';

class Stage {
  static async start() {
    const python = path.join(TOP, '.build/providers/venv/bin/python');
    const child = spawn(python, ['-B', path.join(TOP, 'bindings/python/tests/stage.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const stage = Object.assign(new Stage(), { child, lines });
    return Object.assign(stage, await stage.#read());
  }

  /** Alice opens the URL and answers every page, until the browser leaves for `until`. Returns the
   * browser's last URL. */
  async open(url, until) {
    this.child.stdin.write(`${JSON.stringify({ url, until })}\n`);
    return this.#read();
  }

  async #read() {
    const { value, done } = await this.lines.next();
    assert.ok(!done, 'the process with provider and browser ended; its log is above');
    const told = JSON.parse(value);
    assert.equal(told.failure, undefined, told.failure);
    return told;
  }

  async stop() {
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.stdin.end();
    await gone;
  }
}

const stage = await Stage.start();
test.after(() => stage.stop());

const options = (redirectUri, store) => ({
  configuration: { issuer: stage.issuer, clientId: 'native', redirectUri, scopes: 'openid profile email', allowLoopbackHTTP: true },
  store, keys: { provider: 'file' },
});

test('alice signs in by loopback, and stays signed in', async (t) => {
  const [enroll, store] = [await started(t), newStore()];
  const client = await enroll.open(options(stage.loopback, store));
  let opened;
  const state = await client.signIn({}, {
    present: ({ url }) => (opened = stage.open(url, stage.loopback)),
    confirm: (profile) => profile.email === 'alice@example.com',
  });
  assert.deepEqual(state, { state: 'active', reason: 'confirmed' });
  const visit = await opened;
  assert.ok(visit.asked.includes('password') && visit.text.trim(), JSON.stringify(visit));

  const first = await client.accessToken();
  assert.equal(first.type, 'Bearer');
  assert.equal((await client.identity.userinfo()).claims.email, 'alice@example.com');
  const second = await client.refresh();
  assert.notEqual(second.value, first.value);
  await client.close();

  const again = await (await started(t)).open(options(stage.loopback, store));
  assert.deepEqual((await again.registration.state()).state, { state: 'active', reason: 'valid' });
  assert.equal((await again.accessToken()).value, second.value);
  const { url } = await again.logOut({}, { present: () => {} });
  assert.ok(url.startsWith(stage.issuer));
  await assert.rejects(again.accessToken(), refused('reauthenticate'));
});

test('alice comes back by a private-use scheme', async (t) => {
  const enroll = await started(t);
  const client = await enroll.open(options(CUSTOM, newStore()));
  let redirect;
  const state = await client.signIn({}, {
    present: async ({ url }) => {
      ({ redirect } = await stage.open(url, CUSTOM));
      await client.url.handle({ url: redirect });
    },
    confirm: () => true,
  });
  assert.equal(state.state, 'active');
  assert.ok((await client.accessToken()).value);
  await assert.rejects(client.registration.resume({ url: redirect }), refused('alreadySettled'));

  // Without a page (prompt=none), a user whom the provider does not know gets login_required.
  const begun = await client.registration.begin({ options: { prompt: 'none' } });
  const visit = await stage.open(begun.action.url, CUSTOM);
  await assert.rejects(client.registration.resume({ url: visit.redirect }), (error) => refused('loginRequired')(error) && error.oauthError === 'login_required');
});
