// The package as npm makes and installs it, without a network.

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { BINDING, ENROLLD, folder, newStore, ran, Sandbox, TOP } from './stage.js';

/** A folder of builds for these targets, each with a copy of this machine's enrolld. */
function builds(...targets) {
  const build = folder();
  for (const target of targets) {
    const to = path.join(build, target, 'lib');
    mkdirSync(to, { recursive: true });
    copyFileSync(ENROLLD, path.join(to, 'enrolld'));
  }
  return build;
}

const pack = (to, build, options = {}) =>
  ran('bash', ['-c', options.umask ? `umask ${options.umask}; exec "$0" "$1"` : 'exec "$0" "$1"', path.join(BINDING, 'pack'), to], { env: { ...process.env, BUILD: build } });

test('two packs have the same bytes, whatever the umask, and every enrolld that was built', async () => {
  const targets = ['x86_64-linux-gnu', 'aarch64-linux-gnu', 'x86_64-linux-musl', 'aarch64-linux-musl'];
  const [first, second] = [await pack(folder(), builds(...targets)), await pack(folder(), builds(...targets), { umask: '077' })];
  assert.deepEqual([first.status, second.status], [0, 0], first.err + second.err);
  assert.ok(readFileSync(first.out.trim()).equals(readFileSync(second.out.trim())));
  const { out } = await ran('tar', ['--list', '--verbose', '--file', first.out.trim()]);
  for (const name of ['linux-x64-glibc', 'linux-arm64-glibc', 'linux-x64-musl', 'linux-arm64-musl']) {
    assert.match(out, new RegExp(`^-rwxr-xr-x .* package/native/${name}/enrolld$`, 'm'));
  }
  for (const name of ['LICENSE', 'README.md', 'package.json', 'src/index.js', 'src/index.d.ts', 'src/generated/types.d.ts', 'examples/sign_in.js']) {
    assert.match(out, new RegExp(`^-rw-r--r-- .* package/${name}$`, 'm'));
  }
  assert.ok(!out.includes('package/tests'));
});

test('without an enrolld there is no package', async () => {
  const { status, err } = await pack(folder(), folder());
  assert.equal(status, 1);
  assert.match(err, /there is no enrolld in .*; run make lib/);
});

test('the package is installed without a network, and signs in with the enrolld that it carries', async (t) => {
  const sandbox = await Sandbox.start();
  t.after(() => sandbox.stop());
  const build = folder();
  // The daemon of this machine, as `make lib` leaves it.
  mkdirSync(path.join(build, 'lib'));
  copyFileSync(ENROLLD, path.join(build, 'lib/enrolld'));
  const packed = await pack(folder(), build);
  assert.equal(packed.status, 0, packed.err);

  const app = folder();
  writeFileSync(path.join(app, 'package.json'), '{ "name": "app", "private": true, "type": "module" }');
  const { ENROLLD: _, ...environment } = process.env;
  const env = { ...environment, HOME: app, npm_config_cache: path.join(app, '.npm'), npm_config_update_notifier: 'false', npm_config_audit: 'false' };
  const installed = await ran('npm', ['install', '--offline', packed.out.trim()], { cwd: app, env });
  assert.equal(installed.status, 0, installed.out + installed.err);
  const home = path.join(app, 'node_modules/enrollkit');
  assert.ok(statSync(path.join(home, 'native', readdirSync(path.join(home, 'native'))[0], 'enrolld')).mode & 0o111);

  writeFileSync(path.join(app, 'main.js'), `
    import { Enroll } from 'enrollkit';
    const enroll = await Enroll.start();
    const [issuer, store] = process.argv.slice(2);
    const client = await enroll.open({ configuration: { issuer, clientId: 'sample-app', redirectUri: 'http://127.0.0.1/callback',
      scopes: 'openid profile email offline_access', allowLoopbackHTTP: true }, store, keys: { provider: 'file' } });
    const present = async ({ url }) => {
      const answer = await fetch(issuer + '/_control', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ do: 'settle', url }) });
      await (await fetch((await answer.json()).redirect)).text();
    };
    const state = await client.signIn({}, { present, confirm: (profile) => profile.name === 'Alice Example' });
    console.log(state.state, (await client.accessToken()).type);`);
  const run = await ran(process.execPath, ['main.js', sandbox.issuer, newStore()], { cwd: app, env });
  assert.equal(run.status, 0, run.err);
  assert.match(run.out, /^active Bearer\n/);
});

test('a package without an enrolld for this machine says so', async () => {
  const target = process.arch === 'x64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const packed = await pack(folder(), builds(target));
  assert.equal(packed.status, 0, packed.err);
  const app = folder();
  await ran('tar', ['--extract', '--file', packed.out.trim(), '--directory', app]);
  const { ENROLLD: _, ...env } = process.env;
  const text = "await (await import(process.argv[1])).Enroll.start()";
  const { status, err } = await ran(process.execPath, ['--input-type=module', '--eval', text, path.join(app, 'package/src/index.js')], { env });
  assert.equal(status, 1);
  assert.match(err, /EnrollError: enrolld was not found: there is no .*native\/linux-.*\/enrolld; reinstall the package, or name another program in ENROLLD/);
});

test('the repository ignores what is built', async () => {
  const { out } = await ran('git', ['-C', TOP, 'check-ignore', 'bindings/node/native/x', 'bindings/node/node_modules/x', 'bindings/node/enrollkit-0.1.0.tgz']);
  assert.equal(out.trim().split('\n').length, 3, out);
});
