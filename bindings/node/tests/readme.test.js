// Runs the examples of README.md. They are written here; Tests/faces/ReadmeTests/readme.py copies them to the page.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';

import { Enroll, EnrollArgumentError, EnrollError } from 'enrollkit';
import { newStore, refused, Sandbox, until } from './stage.js';

const sandbox = await Sandbox.start();
test.after(() => sandbox.stop());
const configuration = sandbox.configuration();
const keys = { provider: 'file' };

test('the first start, the next start, events', async () => {
  const store = newStore();
  const first = await Enroll.start();
  const one = await first.open({ configuration, store, keys });
  await one.signIn({}, { present: sandbox.present, confirm: () => true });
  await first.close();
  const url = `${sandbox.issuer}/userinfo`;
  const isMe = () => true;

  // example: next
  const enroll = await Enroll.start();
  const client = await enroll.open({ configuration, store });
  client.on('registration.changed', ({ state }) => console.log(state.state));

  const answer = await client.fetch(url).catch(async (error) => {
    if (!['reauthenticate', 'illegalState'].includes(error.status)) throw error; // illegalState: not confirmed yet
    await client.signIn({}, { confirm: isMe });
    return client.fetch(url);
  });
  console.log((await answer.json()).name);
  // end
  assert.equal(answer.status, 200);

  const lines = [];
  const console_ = console;
  {
    const console = { ...console_, log: (...line) => lines.push(line.join(' ')) };
    // example: errors
    try {
      await client.refresh({ timeout: 5 }, { signal: AbortSignal.timeout(10_000) });
    } catch (error) {
      if (error instanceof EnrollError) console.log(error.status, error.blame, error.retryable, error.httpStatus, error.oauthError);
      if (error instanceof EnrollArgumentError) console.log(error.field, error.message); // a TypeError
    }
    // end
  }
  assert.deepEqual(lines, []);

  setImmediate(() => client.close());
  // example: events
  for await (const event of client.events()) {
    if (event.name === 'token.renewalFailed') console.log(event.error.message);
  }
  // end
  await enroll.close();
});

test('the program\'s own HTTP and secrets', async (t) => {
  const store = newStore();
  const kept = new Map();
  const enroll = await Enroll.start();

  // example: parts
  async function transport({ method, url, headers, body, responseLimit, signal }) {
    const answer = await fetch(url, { method, headers, body: body.length ? body : undefined, redirect: 'manual', signal });
    const parts = [];
    let size = 0;
    for await (const part of answer.body ?? []) {
      size += part.length;
      if (size > responseLimit) throw Object.assign(new Error('the response is too long'), { status: 'responseInvalid' });
      parts.push(part);
    }
    return { status: answer.status, headers: answer.headers, body: Buffer.concat(parts) };
  }

  const secrets = {
    load: (name) => kept.get(name), // 32 bytes, or undefined
    save: (name, secret) => void kept.set(name, secret),
    remove: (name) => void kept.delete(name),
  };

  const client = await enroll.open({ configuration, store, transport, keys: { host: secrets } });
  // end
  await client.signIn({}, { present: sandbox.present, confirm: () => true });
  assert.ok(kept.size > 0 && (await client.accessToken()).value);

  // The transport must stop reading an endless response at the limit.
  let isGone = false;
  const endless = createServer((request, response) => {
    response.once('close', () => (isGone = true));
    const more = () => { while (!isGone && response.write(Buffer.alloc(1 << 16))); };
    response.on('drain', more);
    more();
  });
  await new Promise((resolve) => endless.listen(0, '127.0.0.1', resolve));
  t.after(() => { endless.close(); endless.closeAllConnections(); });
  const other = await enroll.open({ configuration: { ...configuration, issuer: `http://127.0.0.1:${endless.address().port}` }, store: 'memory', transport });
  await assert.rejects(other.registration.begin({ timeout: 20 }), refused('responseInvalid'));
  await until(() => isGone, 'the connection is closed');
  await enroll.close();
});
