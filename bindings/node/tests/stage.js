// Shared by the tests: the sandbox as a process, programs that play an enrolld, folders, and waiting by
// polling.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Enroll } from 'enrollkit';

export const HERE = path.dirname(fileURLToPath(import.meta.url));
export const BINDING = path.dirname(HERE);
export const TOP = path.dirname(path.dirname(BINDING));
export const ENROLLD = (process.env.ENROLLD ??= path.join(TOP, 'build/lib/enrolld'));

const LOOPBACK = 'http://127.0.0.1/callback';
export const CUSTOM = 'com.example.app:/callback';

/** A new private folder, removed when the process of the test ends. */
export function folder() {
  const made = mkdtempSync(path.join(tmpdir(), 'enrollkit-node-'));
  folders.push(made);
  return made;
}

const folders = [];
process.on('exit', () => folders.forEach((one) => rmSync(one, { recursive: true, force: true })));

export const newStore = () => path.join(folder(), 'store');

export async function until(condition, what) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const value = await condition();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new assert.AssertionError({ message: `this did not come true: ${what}` });
}

/** Whether a process exists. A zombie, which has ended and was not waited for, counts as existing. */
export const isThere = (processId) => existsSync(`/proc/${processId}`);

/** A provider on this machine. */
export class Sandbox {
  static async start(...options) {
    const program = process.env.ENROLL_SANDBOX ?? path.join(TOP, '.build/debug/enroll-sandbox');
    const child = spawn(program, ['--port', '0', '--quiet', '--exit-with-stdin', ...options], { stdio: ['pipe', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) {
      return Object.assign(new Sandbox(), { child, issuer: JSON.parse(line).issuer });
    }
    throw new Error('the sandbox did not start');
  }

  async stop() {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end();
    await gone;
  }

  configuration(more = {}) {
    return {
      issuer: this.issuer, clientId: 'sample-app', redirectUri: LOOPBACK, scopes: 'openid profile email offline_access',
      allowLoopbackHTTP: true, dpop: 'auto', ...more,
    };
  }

  async control(action, wish = {}) {
    const answer = await fetch(`${this.issuer}/_control`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ do: action, ...wish }),
    });
    assert.equal(answer.status, 200);
    return JSON.parse((await answer.text()) || '{}');
  }

  /** The redirect to which alice's browser goes after she signed in at an authorize URL and consented. */
  async play(url) {
    return (await this.control('settle', { url })).redirect;
  }

  /** For `present`: alice signs in, and her browser follows the redirect to the loopback listener. */
  present = async ({ url }) => {
    const redirect = await this.play(url);
    if (redirect.startsWith('http')) await (await fetch(redirect)).text();
  };

  /** A client whose user has signed in. */
  async signedIn(enroll, { configured, ...more } = {}) {
    const client = await enroll.open({ configuration: this.configuration(configured), store: newStore(), keys: { provider: 'file' }, ...more });
    const state = await client.signIn({}, { present: this.present, confirm: () => true });
    assert.deepEqual(state, { state: 'active', reason: 'confirmed' });
    return client;
  }
}

/** A daemon that ends with the test. `t`: the context of the test. */
export async function started(t, options = {}) {
  const enroll = await Enroll.start({ log: () => {}, ...options });
  t.after(() => enroll.close());
  return enroll;
}

/** A program that plays an enrolld; `body` is its code. */
export function played(body) {
  const file = path.join(folder(), 'enrolld');
  writeFileSync(file, `#!${process.execPath}\n${body}`, { mode: 0o755 });
  return file;
}

/** The code of a program that plays an enrolld: it answers system.describe, and runs the code `more` for
 *  every other message. */
export const describing = (more, abi = 1) => `
const write = (value) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...value }) + '\\n');
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method === 'system.describe') {
    write({ id: message.id, result: { name: 'EnrollKit', version: '0.0.9', abi: ${abi}, commands: [], events: [], keyProviders: [] } });
    return;
  }
  ${more}
});
`;

/** A check for assert.rejects: the status of the error, and its field. */
export const refused = (status, field, text) => (error) => {
  assert.equal(error.status, status, error.stack);
  assert.equal(error.name, status === 'invalidArgument' ? 'EnrollArgumentError' : 'EnrollError');
  if (field) assert.equal(error.field, field);
  if (text) assert.match(error.message, text);
  return true;
};

/** Runs a program in a separate process; returns its exit status and its output. */
export function ran(program, args, { input, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
    const told = { out: '', err: '', child };
    child.stdout.on('data', (chunk) => (told.out += chunk));
    child.stderr.on('data', (chunk) => (told.err += chunk));
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ ...told, status: status ?? signal }));
    child.stdin.end(input);
  });
}

/** Runs a module that imports the package. */
export const runModule = (text, options) =>
  ran(process.execPath, ['--input-type=module', '--eval', text], { cwd: BINDING, ...options });

export const readJSON = (file) => JSON.parse(readFileSync(file, 'utf8'));
