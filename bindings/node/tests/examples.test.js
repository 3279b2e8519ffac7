// Runs the example for a terminal. The example for Electron is only checked by node and by TypeScript.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';

import { BINDING, HERE, newStore, ran, Sandbox, TOP } from './stage.js';

const EXAMPLES = path.join(BINDING, 'examples');
const ELECTRON = path.join(TOP, 'Examples/electron-app');

test('the example for a terminal signs in and out', async (t) => {
  const sandbox = await Sandbox.start();
  t.after(() => sandbox.stop());
  const child = spawn(process.execPath, [path.join(EXAMPLES, 'sign_in.js'), sandbox.issuer, newStore()], { stdio: ['ignore', 'pipe', 'inherit'] });
  const status = new Promise((resolve) => child.once('exit', resolve));
  const said = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    const url = /^Open this in your browser: (.*)$/.exec(line)?.[1];
    if (url) await sandbox.present({ url });
  }
  assert.equal(await status, 0);
  assert.equal(said[1], 'Hello, Alice Example; is this you?');
  assert.match(said[2], /^A valid token of [1-9]\d* bytes\.$/);
  assert.ok(said[3].startsWith(`To end the browser's session, open: ${sandbox.issuer}`));
});

test('the example for a terminal says what is wrong', async () => {
  const example = path.join(EXAMPLES, 'sign_in.js');
  const nobody = await ran(process.execPath, [example, 'http://127.0.0.1:1', 'memory']);
  assert.equal(nobody.status, 1);
  assert.match(nobody.err, /^sign_in\.js: no connection to http:\/\/127\.0\.0\.1:1$/m);
  assert.equal((await ran(process.execPath, [example])).status, 2);
});

test('each file of the examples is JavaScript', async () => {
  const files = [EXAMPLES, ELECTRON].flatMap((folder) => readdirSync(folder).map((name) => path.join(folder, name)));
  const scripts = files.filter((name) => /\.[cm]?js$/.test(name));
  assert.ok(scripts.length >= 5, scripts.join());
  for (const name of scripts) {
    const { status, err } = await ran(process.execPath, ['--check', name]);
    assert.equal(status, 0, err);
  }
});

for (const [what, file] of [['the types allow what they should, and no more', 'tsconfig.json'], ['the examples call the package by its types', 'tsconfig.examples.json']]) {
  test(what, async () => {
    const { status, out } = await ran('tsc', ['-p', path.join(HERE, file)]);
    assert.equal(status, 0, out);
  });
}
