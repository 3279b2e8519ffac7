// Checks that the commands, events, errors and types of the package agree with the daemon's.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { Enroll, EnrollClient } from 'enrollkit';
import * as surface from '../src/generated/surface.js';
import { BINDING, ENROLLD, ran, readJSON, started } from './stage.js';

const manifest = JSON.parse((await ran(ENROLLD, ['--manifest'])).out);
const OWN = ['client.open', 'client.close', 'events.subscribe', 'events.unsubscribe'];
const types = readFileSync(path.join(BINDING, 'src/generated/types.d.ts'), 'utf8');

const methods = (object) => Object.entries(object)
  .filter(([, value]) => value && Object.values(value).some((one) => typeof one === 'function'))
  .flatMap(([group, verbs]) => Object.keys(verbs).map((verb) => `${group}.${verb}`));
const named = (needsClient) => manifest.commands.filter(({ name, client }) => !OWN.includes(name) && client === needsClient).map(({ name }) => name);

test('there is a method for every command of the daemon, and no other', async (t) => {
  const enroll = await started(t);
  const client = await enroll.open({ configuration: { issuer: 'https://id.example', clientId: 'a', redirectUri: 'a.b:/c' }, store: 'memory' });
  assert.deepEqual(methods(enroll).sort(), named(false).sort());
  assert.deepEqual(methods(client).filter((name) => !name.startsWith('_')).sort(), named(true).sort());
  assert.ok(client instanceof EnrollClient && enroll instanceof Enroll);
  const described = await enroll.system.describe();
  assert.deepEqual(described.commands.sort(), manifest.commands.map(({ name }) => name).sort());
});

test('each method, each member of a result and each event has a type', () => {
  for (const { name } of manifest.commands.filter(({ name }) => !OWN.includes(name))) {
    const [group, verb] = name.split('.');
    const block = types.split(`export interface ${group[0].toUpperCase()}${group.slice(1)}Commands {`)[1].split('\n}\n')[0];
    assert.match(block, new RegExp(`^  ${verb}\\(`, 'm'), name);
  }
  for (const [name, schema] of Object.entries(manifest.$defs)) {
    const found = name === 'EnrollError' ? 'ErrorDetail' : name;
    if (!types.includes(`export type ${found} =`)) assert.fail(`there is no type ${found}`);
    for (const member of Object.keys(schema.properties ?? {})) assert.match(types, new RegExp(`\\b${member}\\??:`), `${name}.${member}`);
  }
  for (const { name } of manifest.events) assert.ok(types.includes(`  '${name}': {`), name);
});

test('events, timeouts, stores and errors are those of the daemon', () => {
  assert.deepEqual([...surface.EVENTS].sort(), manifest.events.map(({ name }) => name).sort());
  const timed = manifest.commands.filter(({ input }) => input.properties.timeout);
  assert.deepEqual(surface.TIMED, Object.fromEntries(timed.map(({ name, input }) => [name, input.properties.timeout.default])));
  assert.deepEqual(surface.STORES, manifest.commands.filter(({ input }) => input.properties.store).map(({ name }) => name));
  const rows = manifest.errors.map(({ status, code, blame, retryable }) => [status, { code, blame, retryable }]);
  assert.deepEqual(surface.ERRORS, Object.fromEntries(rows));
});

test('package, generated files and daemon have one version', () => {
  const { version, type, engines, dependencies, license } = readJSON(path.join(BINDING, 'package.json'));
  assert.deepEqual([version, surface.VERSION, Enroll.VERSION], Array(3).fill(manifest.version));
  assert.equal(surface.ABI, manifest.abi);
  assert.deepEqual([type, engines, dependencies, license], ['module', { node: '>=18' }, undefined, 'Apache-2.0']);
});
