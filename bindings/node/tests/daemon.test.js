// Programs that are not enrolld, daemons that end or send nonsense, and the effect on the caller's process.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

import { Enroll } from 'enrollkit';
import { findProgram, folderFor, formatOf, unpacked } from '../src/program.js';
import { BINDING, describing, ENROLLD, folder, isThere, played, ran, refused, runModule, started, until } from './stage.js';

const start = (program) => Enroll.start({ program, log: () => {} });
const OPEN = { configuration: { issuer: 'https://id.example', clientId: 'a', redirectUri: 'com.example.app:/cb' }, store: 'memory' };

test('a program that is absent, a folder, not executable or no program is refused in one sentence', async () => {
  const place = folder();
  await assert.rejects(start(path.join(place, 'none')), refused('unsupported', undefined, /there is no .*none$/));
  await assert.rejects(start(place), refused('unsupported', undefined, /is a folder; name the program in it$/));
  const plain = path.join(place, 'plain');
  writeFileSync(plain, 'hello');
  await assert.rejects(start(plain), refused('unsupported', undefined, /is not an executable file$/));
  chmodSync(plain, 0o755);
  await assert.rejects(start(plain), refused('unsupported', undefined, /is neither a program of this system nor a script$/));
  for (const odd of ['', 'a\0b', '/tmp/\udc00']) await assert.rejects(start(odd), refused('invalidArgument', 'program', /expected the path of an enrolld, got/));
  await assert.rejects(start('x'.repeat(5000)), refused('unsupported', undefined, /: the path is too long \(ENAMETOOLONG\)$/));
  await assert.rejects(start(path.join(plain, 'enrolld')), refused('unsupported', undefined, /there is no /));
  const loop = path.join(place, 'loop');
  symlinkSync(loop, loop);
  await assert.rejects(start(loop), refused('unsupported', undefined, /: its symbolic links lead to one another \(ELOOP\)$/));
  const script = path.join(place, 'script');
  writeFileSync(script, '#!/no/such/interpreter\n', { mode: 0o755 });
  await assert.rejects(start(script), refused('unsupported', undefined, /script: the interpreter that its first line names is not there \(ENOENT\)$/));
  // The environment variable names a wrong program, too.
  const { err } = await runModule("await (await import('enrollkit')).Enroll.start()", { env: { ...process.env, ENROLLD: plain } });
  assert.match(err, /EnrollError: enrolld could not be started/);
});

test('a relative path of a program is one below the working directory, and no name to look for in PATH', async () => {
  const place = folder();
  symlinkSync(ENROLLD, path.join(place, 'own-enrolld'));
  const text = `
    const { Enroll } = await import(${JSON.stringify(pathToFileURL(path.join(BINDING, 'src/index.js')).href)});
    const enroll = await Enroll.start();
    console.log((await import('node:fs')).readlinkSync('/proc/' + enroll.processId + '/exe') !== '');
    await enroll.close();`;
  const run = (ENROLLD, PATH = process.env.PATH) =>
    ran(process.execPath, ['--input-type=module', '--eval', text], { cwd: place, env: { ...process.env, ENROLLD, PATH } });
  for (const named of ['own-enrolld', './own-enrolld', `../${path.basename(place)}/own-enrolld`]) {
    const { status, out, err } = await run(named);
    assert.deepEqual([status, out, err], [0, 'true\n', ''], named);
  }
  const { status, err } = await run('enrolld', path.dirname(ENROLLD));
  assert.equal(status, 1);
  assert.match(err, new RegExp(`EnrollError: enrolld was not found: there is no ${path.join(place, 'enrolld')}$`, 'm'));
});

/** enrolld with some bytes of its header changed. */
function changed(offset, text) {
  const file = path.join(folder(), 'enrolld');
  const bytes = readFileSync(ENROLLD);
  Buffer.from(text, 'latin1').copy(bytes, offset === undefined ? bytes.indexOf(formatOf(ENROLLD).loader) : offset);
  writeFileSync(file, bytes, { mode: 0o755 });
  return file;
}

test('a program of another architecture or C library is named as such', async () => {
  assert.equal(formatOf(ENROLLD).machine, process.arch);
  // A program for an architecture that no emulator on this machine runs.
  await assert.rejects(start(changed(18, '\x16\x7f')), refused('unsupported', undefined, /is a program for the ELF machine 32534, and this process is one for /));
  await assert.rejects(start(changed(undefined, '/lib/ld-none')), refused('unsupported', undefined, /needs \/lib\/ld-none.*another C library$/));
});

test('the program of this package is chosen by platform, architecture and C library', () => {
  assert.equal(folderFor('linux', 'x64', '/lib64/ld-linux-x86-64.so.2'), 'linux-x64-glibc');
  assert.equal(folderFor('linux', 'arm64', '/lib/ld-musl-aarch64.so.1'), 'linux-arm64-musl');
  assert.equal(folderFor('linux', 'x64', undefined), 'linux-x64-glibc');
  for (const other of [['darwin', 'arm64'], ['win32', 'x64'], ['linux', 'ia32']]) {
    assert.throws(() => folderFor(...other), refused('unsupported', undefined, new RegExp(`^enrollkit has no enrolld for ${other.join('-')}: .*ENROLLD$`)));
  }
  assert.ok(formatOf(process.execPath).loader.startsWith('/lib'));
  assert.deepEqual(formatOf('/etc/passwd'), {});
  assert.deepEqual(formatOf('/nowhere'), {});
  assert.equal(unpacked('/opt/a/resources/app.asar/node_modules/e/native/x'), '/opt/a/resources/app.asar.unpacked/node_modules/e/native/x');
  assert.equal(findProgram(ENROLLD), ENROLLD);
});

test('a program that is no enrolld, or an older one, is refused and does not stay', async () => {
  const silent = played('process.stdin.resume(); process.stdin.on("end", () => process.exit(3)); process.stdout.end()');
  for (const [program, text] of [
    ['/bin/true', /\/bin\/true does not answer as enrolld does: true ended with status 0$/],
    ['/bin/cat', /cat does not answer as enrolld does: cat ended with status 1; the last line of its log: .*--help/],
    [played('console.log("hello")'), /a line that is not a JSON-RPC message/],
    [played('console.log("[]")'), /a line that is not a JSON-RPC message/],
    [played(describing('', 0)), /needs an enrolld with interface 0\.1 or a later minor one; .* 0\.0\.9 has 0\.0$/],
    [played(describing('', 2 << 16)), /needs an enrolld with interface 0\.1 .* has 2\.0$/],
    [silent, /closed its output/],
  ]) {
    await assert.rejects(start(program), refused('unsupported', undefined, text));
  }
  await assert.doesNotReject(start(played(describing('', 5))).then((enroll) => enroll.close()));
});

test('an option of the wrong type is a TypeError that names the key', async (t) => {
  for (const [options, field] of [[7, 'options'], [{ program: 7 }, 'program'], [{ log: 'x' }, 'log'], [{ logLevel: 'loud' }, 'logLevel'], [{ colour: 1 }, 'colour']]) {
    await assert.rejects(Enroll.start(options), refused('invalidArgument', field));
  }
  const enroll = await started(t);
  const { configuration } = OPEN;
  for (const [options, field] of [
    [undefined, 'options'], [{ configuration: 'x', store: 'memory' }, 'configuration'], [{ configuration }, 'store'],
    [{ configuration, store: 7 }, 'store'], [{ configuration, store: '~/x' }, 'store'], [{ configuration, store: '' }, 'store'],
    [{ ...OPEN, transport: 'fetch' }, 'transport'], [{ ...OPEN, keys: 'file' }, 'keys'], [{ ...OPEN, keys: { host: {} } }, 'keys.host'],
    [{ ...OPEN, keys: { provider: 'host' } }, 'keys'], [{ ...OPEN, account: 7 }, 'account'], [{ ...OPEN, renewInBackground: 'yes' }, 'renewInBackground'],
    [{ ...OPEN, colour: 'red' }, 'colour'], [{ ...OPEN, account: () => {} }, 'account'], [{ ...OPEN, platform: { width: NaN } }, 'width'],
    [{ ...OPEN, platform: { width: 1n } }, 'width'], [{ ...OPEN, account: 'a\0b' }, 'account'], [{ ...OPEN, account: '\udc00' }, 'account'],
    [{ ...OPEN, store: '/tmp/a\0b' }, 'store'],
  ]) {
    await assert.rejects(enroll.open(options), (error) => refused('invalidArgument', field)(error) && error instanceof TypeError && error.message.includes(field));
  }
  await assert.rejects(enroll.open({ ...OPEN, configuration: { ...configuration, issuer: 7 } }), refused('configuration', 'issuer'));
  await assert.rejects(enroll.open(OPEN, { signal: 7 }), refused('invalidArgument', 'signal'));
  const client = await enroll.open(OPEN);
  const loop = {};
  loop.self = loop;
  for (const [call, field] of [
    [() => client.registration.begin('signIn'), 'parameters'], [() => client.registration.begin({ kind: 7 }), 'kind'],
    [() => client.registration.state({ client: 'c9' }), 'client'], [() => client.registration.state({ timeout: '1' }), 'timeout'],
    [() => client.registration.state({ timeout: -1 }), 'timeout'], [() => client.registration.state({ timeout: NaN }), 'timeout'],
    [() => client.registration.state({}, { signal: {} }), 'signal'], [() => client.registration.state({}, { deadline: 1 }), 'deadline'],
    [() => client.registration.begin({ options: loop }), 'parameters'], [() => client.registration.resume({ url: 'x'.repeat(1 << 20) }), 'parameters'],
    [() => client.signIn({}, { present: 'browser' }), 'present'], [() => client.signIn({}, { confirm: true }), 'confirm'],
    [() => client.logOut({}, { timeout: 1 }), 'timeout'], [() => enroll.accounts.list(), 'store'], [() => enroll.link.parse({}), 'url'],
    [() => enroll.resource.discover({ resource: 'https://r.example', transport: 7 }), 'transport'],
  ]) {
    await assert.rejects(call(), (error) => refused('invalidArgument', field)(error) && error instanceof TypeError);
  }
  assert.throws(() => client.events({ signal: 1 }), refused('invalidArgument', 'signal'));
  assert.throws(() => new Enroll(), TypeError);
});

test('a signal ends a wait, and so does a timeout; one that is aborted already sends nothing', async (t) => {
  const seen = played(describing(`if (message.method === 'pkce.generate') write({ id: message.id, result: { seen } });
  else seen.push(message.method, message.params.id);`).replace(/^/, 'const seen = [];'));
  const enroll = await started(t, { program: seen });
  const controller = new AbortController();
  const aborted = enroll.link.parse({ url: 'x' }, { signal: controller.signal });
  controller.abort(new Error('enough'));
  await assert.rejects(aborted, (error) => refused('cancelled')(error) && error.cause.message === 'enough');
  await assert.rejects(enroll.link.parse({ url: 'x' }, { signal: AbortSignal.abort() }), refused('cancelled'));
  await assert.rejects(enroll.resource.discover({ resource: 'x', timeout: 0.05 }), refused('deadlineExceeded'));
  const { seen: came } = await enroll.pkce.generate();
  assert.deepEqual(came, ['link.parse', undefined, '$/cancelRequest', 2, 'resource.discover', undefined, '$/cancelRequest', 3].map((one) => one ?? null));
});

test('one signal serves many calls, without a warning and without a listener that stays', async (t) => {
  const enroll = await started(t);
  const warned = t.mock.method(process, 'emitWarning', () => {});
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 100 }, () => enroll.pkce.generate({}, { signal })));
  assert.equal(warned.mock.callCount(), 0);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a client whose opening was given up is closed', async (t) => {
  const program = played(`let held, closed = 0;${describing(`
    if (message.method === 'client.open') held = message.id;
    if (message.method === '$/cancelRequest') write({ id: held, result: { client: 'c7' } });
    if (message.method === 'client.close') { closed = message.params.client; write({ id: message.id, result: {} }); }
    if (message.method === 'pkce.generate') write({ id: message.id, result: { closed } });`)}`);
  const enroll = await started(t, { program });
  const controller = new AbortController();
  const opening = enroll.open(OPEN, { signal: controller.signal });
  controller.abort();
  await assert.rejects(opening, refused('cancelled'));
  await until(async () => (await enroll.pkce.generate()).closed === 'c7', 'the client is closed');
});

test('a daemon that is killed rejects what waits, ends the events, and leaves no zombie', async (t) => {
  const enroll = await started(t);
  const client = await enroll.open(OPEN);
  const stream = client.events();
  await client.registration.state();
  const waiting = client.registration.state({ wait: true, timeout: 600 }).catch((error) => error);
  const other = played(describing(''));
  const silent = await started(t, { program: other });
  const unanswered = Array.from({ length: 100 }, () => silent.pkce.generate().catch((error) => error));
  process.kill(silent.processId, 'SIGKILL');
  for (const error of await Promise.all(unanswered)) refused('daemonEnded', undefined, /^enrolld was killed by SIGKILL/)(error);
  process.kill(enroll.processId, 'SIGKILL');
  await waiting;
  for await (const { name } of stream) assert.match(name, /^registration\./);
  await assert.rejects(client.accessToken(), (error) => refused('daemonEnded')(error) && error.blame === 'host' && error.code === 0);
  await client.close();
  await enroll.close();
  assert.ok(!isThere(enroll.processId) && !isThere(silent.processId));
});

test('nonsense, a closed pipe and a failed start end a daemon with a clear error', async (t) => {
  for (const [code, text] of [
    ["process.stdout.write('Segmentation fault\\n')", /enrolld wrote a line that is not a JSON-RPC message/],
    ["process.stdout.write('{}\\n')", /not a JSON-RPC message/],
    ["process.stdout.write(Buffer.from([0xff, 0xfe, 10]))", /not a JSON-RPC message/],
    ["process.stderr.write('enrolld: error: no memory\\n', () => process.exit(1))", /enrolld ended with status 1; the last line of its log: enrolld: error: no memory/],
    ["process.stdout.write('x'.repeat((1 << 26) + 1))", /enrolld wrote a line that is too long/],
    ["require('fs').closeSync(1); setInterval(() => {}, 1000)", /enrolld closed its output/],
  ]) {
    const log = [];
    const enroll = await started(t, { program: played(describing(code)), log: (...line) => log.push(line) });
    await assert.rejects(enroll.pkce.generate(), refused('daemonEnded', undefined, text));
    await enroll.close();
    if (/no memory/.test(code)) assert.deepEqual(log, [['error', 'no memory']]);
  }
});

test('parameters as deep as the daemon takes are sent, and deeper ones are refused before', async (t) => {
  const enroll = await started(t);
  const nested = (levels) => { let one = {}; while (--levels) one = { one }; return one; };
  // In the daemon's message, two levels of objects enclose the values of the parameters.
  for (const [levels, status] of [[61, 'configuration'], [62, 'configuration'], [63, 'invalidArgument'], [90, 'invalidArgument']]) {
    await assert.rejects(enroll.open({ ...OPEN, configuration: nested(levels) }), (error) => error.status === status, `${levels}`);
  }
});

test('a daemon that reads no more is found by the next call', async (t) => {
  const file = path.join(folder(), 'enrolld');
  const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { name: 'EnrollKit', version: '0.1.0', abi: 1 } });
  writeFileSync(file, `#!/bin/sh\nread line; exec <&-; echo '${answer}'; exec sleep 1000`, { mode: 0o755 });
  const enroll = await started(t, { program: file });
  await assert.rejects(enroll.pkce.generate(), refused('daemonEnded', undefined, /enrolld closed its input/));
  await enroll.close();
  assert.ok(!isThere(enroll.processId));
});

test('answers that nobody waits for, strange errors and unknown requests change nothing', async (t) => {
  const log = [];
  const program = played(`let told;${describing(`
    if (message.method === undefined) { told = message; return; }
    write({ id: 99, result: {} });
    write({ method: 'weather.changed', params: { client: 'c1' } });
    write({ id: 'h1', method: 'host.weather.get', params: {} });
    if (message.method === 'link.parse') write({ id: message.id, error: { code: -32603, message: 'oops' } });
    else setTimeout(() => write({ id: message.id, result: { told } }), 50);`)}`);
  const enroll = await started(t, { program, log: (...line) => log.push(line.join(' ')) });
  await assert.rejects(enroll.link.parse({ url: 'x' }), refused('internal', undefined, /the daemon answered -32603: oops/));
  const { told } = await enroll.pkce.generate();
  assert.deepEqual(told, { jsonrpc: '2.0', id: 'h1', error: { code: -32601, message: 'method not found' } });
});

test('an answer that names no call ends the calls that wait, and the next one works', async (t) => {
  const log = [];
  const seen = played(`const given = [];${describing(`
    if (message.method === '$/cancelRequest') given.push(message.params.id);
    if (message.method === 'link.parse') write({ id: null, error: { code: -32700, message: 'Parse error' } });
    if (message.method === 'pkce.generate') write({ id: message.id, result: { given } });`)}`);
  const enroll = await started(t, { program: seen, log: (...line) => log.push(line.join(' ')) });
  const calls = [enroll.expiry.check({}), enroll.link.parse({ url: 'x' })];
  for (const call of calls) {
    await assert.rejects(call, refused('internal', undefined, /the daemon could not read a message of this process \(-32700: Parse error\)/));
  }
  assert.deepEqual((await enroll.pkce.generate()).given, [2, 3]);
  assert.deepEqual(log, ['error the daemon could not read a message of this process (-32700: Parse error)']);
});

test('no text in an object of its own brings a message that the daemon cannot read', async (t) => {
  const enroll = await started(t);
  for (const url of [new String('a\0b'), new String('\udc00'), new Number(NaN)]) {
    await assert.rejects(enroll.link.parse({ url }), refused('invalidArgument', 'url'));
  }
  // JSON that the caller wrote by hand is not checked; the daemon refuses it, and the call ends.
  if (JSON.rawJSON) await assert.rejects(enroll.link.parse({ url: JSON.rawJSON('"a\\u0000b"') }), refused('internal', undefined, /could not read a message/));
  assert.ok((await enroll.pkce.generate()).codeVerifier);
});

test('an idle daemon does not keep a program from ending, a call does, and no promise is left unhandled', async () => {
  const idle = await runModule(`
    import { Enroll } from 'enrollkit';
    const enroll = await Enroll.start();
    const client = await enroll.open(${JSON.stringify(OPEN)});
    client.on('token.renewed', () => {});
    client.events();
    await client.registration.state();
    console.log(enroll.processId);`);
  assert.deepEqual([idle.status, idle.err], [0, '']);
  await until(() => !isThere(idle.out.trim()), 'the daemon ends with the program');
  const busy = await runModule(`
    import { Enroll } from 'enrollkit';
    process.on('unhandledRejection', () => process.exit(9));
    const enroll = await Enroll.start({ log: () => {} });
    const client = await enroll.open(${JSON.stringify(OPEN)});
    const events = client.events();
    setTimeout(() => process.kill(enroll.processId, 'SIGKILL'), 200).unref();
    console.log((await events.next()).done);
    const other = await Enroll.start({ log: () => {} });
    await Promise.all([other.close(), other.close()]);
    console.log(other.processId, require('fs').existsSync('/proc/' + other.processId));`.replace('require(', "(await import('node:module')).createRequire('/')("));
  assert.deepEqual([busy.status, busy.err], [0, '']);
  assert.match(busy.out, /^true\n\d+ false\n$/);
});

test('a signal of the terminal reaches the program alone', async () => {
  const enroll = await started({ after() {} });
  const session = (id) => readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1].split(' ')[3];
  assert.notEqual(session(enroll.processId), session(process.pid));
  await enroll.close();
});

test('the log of the daemon goes to standard error, or where the program wants it', async () => {
  const text = (options) => `
    import { Enroll } from 'enrollkit';
    const enroll = await Enroll.start(${options});
    const client = await enroll.open(${JSON.stringify({ ...OPEN, configuration: { ...OPEN.configuration, issuer: 'http://127.0.0.1:1', allowLoopbackHTTP: true } })});
    await client.registration.begin().catch(() => {});
    await enroll.close();`;
  const plain = await runModule(text("{ logLevel: 'info' }"));
  assert.match(plain.err, /^enrolld: (info|warning): /);
  assert.equal((await runModule(text(''))).err, '', 'an error that was answered is not told twice');
  const own = await runModule(text("{ logLevel: 'info', log: (level, line) => console.log(level + '!' + line) }"));
  assert.equal(own.err, '');
  assert.match(own.out, /^(info|warning)!/m);
});
