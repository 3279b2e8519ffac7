// www/enroll.js over a stand-in for the native part: its requests, its results, and the arguments that it
// refuses. tests/test_shell.py tests the same file with the real library.
'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const path = require('node:path');
const test = require('node:test');

const TOP = path.join(__dirname, '../../..');
const SOURCE = readFileSync(path.join(__dirname, '../www/enroll.js'), 'utf8');
const MANIFEST = JSON.parse(execFileSync(process.env.ENROLLD || path.join(TOP, 'build/bin/enrolld'), ['--manifest'], { maxBuffer: 1 << 26 }));

/** Loads the module as Cordova does. `answers`: the result of each action. */
function load(answers = {}) {
  const sent = [];
  let tell;
  const native = {
    listen: (_, success) => { tell = success; success({ type: 'ready' }); },
    open: (_, success) => success({ client: `c${sent.filter(([action]) => action === 'open').length}` }),
    close: (_, success) => success({}),
    cancel: (_, success) => success({}),
    taken: (_, success) => success({}),
    browse: (_, success) => success({}),
    call: ([, , command], success, fail) => {
      const answer = answers[command];
      if (answer instanceof Function) return answer(success, fail, sent[sent.length - 1][1]);
      return success(structuredClone(answer || {}));
    },
    ...answers.native,
  };
  const exec = (success, fail, service, action, args) => {
    assert.equal(service, 'EnrollKit');
    // Only JSON crosses the bridge.
    sent.push([action, JSON.parse(JSON.stringify(args))]);
    native[action](args, success, fail);
  };
  const module = { exports: {} };
  const require = (name) => (name === 'cordova/exec' ? exec : assert.fail(name));
  new Function('require', 'exports', 'module', SOURCE)(require, module.exports, module);
  const enroll = module.exports;
  return {
    enroll, sent, tell: (message) => tell(message),
    of: (action) => sent.filter(([name]) => name === action).map(([, args]) => args),
    open: (more) => enroll.open({ configuration: { issuer: 'https://id.example' }, ...more }),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const refused = (status, field) => (error) => {
  assert.equal(error.constructor.name, 'EnrollError');
  assert.equal(error.status, status, error.message);
  if (field) assert.equal(error.field, field);
  return true;
};
const BEGUN = { transaction: 't1', action: { type: 'openURL', url: 'https://id.example/authorize' }, expiresAt: 1, survivesProcess: true };
const ACTIVE = { state: { state: 'active', reason: 'valid' } };
const NETWORK = { status: 'network', code: -30, blame: 'network', retryable: true, message: 'no route', httpStatus: 502, retryAfter: 3 };

test('there is a method for every command of the manifest, and no other', async () => {
  const { enroll, open } = load();
  const client = await open();
  const own = ['client.open', 'client.close', 'events.subscribe', 'events.unsubscribe', 'store.rekey'];
  const groups = (object) => Object.entries(object).filter(([, value]) => value && typeof value === 'object')
    .flatMap(([group, verbs]) => Object.keys(verbs).map((verb) => `${group}.${verb}`));
  const named = (needsClient) => MANIFEST.commands.filter((one) => !own.includes(one.name) && one.client === needsClient).map((one) => one.name);
  assert.deepEqual(groups(client).sort(), named(true).sort());
  assert.deepEqual(groups(enroll).sort(), named(false).sort());
});

test('the events are those of the manifest', async () => {
  const { open } = load();
  const client = await open();
  for (const { name } of MANIFEST.events) client.subscribe(name, () => {})();
  assert.throws(() => client.subscribe('token.stolen', () => {}), refused('invalidArgument', 'name'));
});

test('every status that is made here is the manifest\'s, with its number and blame', async () => {
  const { enroll, open } = load({ native: { browse: (_, __, fail) => fail('Class not found') } });
  const client = await open();
  const errors = await Promise.all([
    enroll.open().catch((error) => error),
    client.registration.state({}, { signal: AbortSignal.abort() }).catch((error) => error),
    client.close().then(() => client.token.access()).catch((error) => error),
  ]);
  for (const error of errors) {
    const row = MANIFEST.errors.find(({ status }) => status === error.status);
    assert.deepEqual([error.code, error.blame, error.retryable], [row.code, row.blame, row.retryable]);
  }
  assert.deepEqual(errors.map(({ status }) => status), ['invalidArgument', 'cancelled', 'handle']);
});

test('a call sends its command and parameters, and gives what came', async () => {
  const { open, of } = load({ 'registration.state': ACTIVE });
  const client = await open();
  assert.deepEqual(await client.registration.state({ wait: true, timeout: undefined }), ACTIVE);
  const [[number, id, command, parameters]] = of('call');
  assert.deepEqual([typeof number, id, command, parameters], ['number', 'c1', 'registration.state', { wait: true }]);
});

test('an error of the native part is an EnrollError with everything that it said', async () => {
  const { enroll, open } = load({ 'token.access': (_, fail) => fail({ ...NETWORK, oauthError: 'temporarily_unavailable' }) });
  const client = await open();
  await assert.rejects(client.token.access(), (error) => {
    assert.ok(error instanceof enroll.EnrollError && error instanceof Error);
    const { status, code, blame, retryable, httpStatus, oauthError, retryAfter, message } = error;
    assert.deepEqual({ status, code, blame, retryable, httpStatus, oauthError, retryAfter, message },
      { ...NETWORK, oauthError: 'temporarily_unavailable' });
    assert.equal(String(error), 'EnrollError network: no route');
    assert.equal(JSON.parse(JSON.stringify(error)).message, 'no route');
    assert.ok(!('field' in error));
    return true;
  });
});

test('an app without the native part is told so', async () => {
  const { open } = load({ native: { listen: (_, __, fail) => fail('Class not found') } });
  await assert.rejects(open(), (error) => refused('unsupported')(error) && /Class not found/.test(error.message));
});

test('bad input is refused before it is sent, and named', async () => {
  const { enroll, open, of } = load();
  const client = await open();
  const loop = {};
  loop.self = loop;
  const bad = [
    [() => enroll.open({}), 'configuration'],
    [() => enroll.open({ configuration: 'x' }), 'configuration'],
    [() => enroll.open({ configuration: {}, stroe: 'x' }), 'stroe'],
    [() => enroll.open({ configuration: {}, store: '../x' }), 'store'],
    [() => enroll.open({ configuration: {}, store: '' }), 'store'],
    [() => enroll.open(null), 'options'],
    [() => enroll.accounts.list({ store: '/data' }), 'store'],
    [() => client.token.access('x'), 'parameters'],
    [() => client.token.access([]), 'parameters'],
    [() => client.token.access(null), 'parameters'],
    [() => client.token.access(new Map()), 'parameters'],
    [() => client.token.access(loop), 'parameters'],
    [() => client.token.access({ minimumLifetime: NaN }), 'minimumLifetime'],
    [() => client.token.access({ minimumLifetime: 10n }), 'minimumLifetime'],
    [() => client.token.access({ minimumLifetime: () => 1 }), 'minimumLifetime'],
    [() => client.token.access({}, { signal: 7 }), 'signal'],
    [() => client.token.access({}, { sginal: 7 }), 'sginal'],
    [() => client.token.access({}, 7), 'options'],
    [() => client.signIn({}, { onBegun: 7 }), 'onBegun'],
    [async () => client.subscribe('token.renewed'), 'listener'],
    [async () => client.subscribe(7), 'listener'],
    [async () => enroll.onUnclaimedURL(), 'listener'],
  ];
  for (const [act, field] of bad) {
    await assert.rejects(act, (error) => refused('invalidArgument', field)(error) && error.message.length > 20, String(act));
  }
  assert.equal(of('call').length + of('open').length, 1);
});

test('a signal cancels its call in the native part, once', async () => {
  let end;
  const { open, of } = load({ 'registration.awaitOutcome': (_, fail) => { end = fail; } });
  const client = await open();
  const stop = new AbortController();
  const waiting = client.registration.awaitOutcome({ transaction: 't1' }, { signal: stop.signal });
  stop.abort();
  assert.deepEqual(of('cancel'), [[of('call')[0][0]]]);
  end({ status: 'cancelled', code: -6, blame: 'caller', retryable: false, message: 'cancelled' });
  await assert.rejects(waiting, refused('cancelled'));
});

test('a signal that is aborted later touches no other call', async () => {
  const { open, of } = load();
  const client = await open();
  const stop = new AbortController();
  await client.registration.state({}, { signal: stop.signal });
  stop.abort();
  assert.deepEqual(of('cancel'), []);
});

test('signing in begins, opens the browser, and waits', async () => {
  const told = [];
  const { open, sent } = load({ 'registration.begin': BEGUN, 'registration.awaitOutcome': ACTIVE });
  const client = await open();
  const state = await client.signIn({ kind: 'register' }, { onBegun: (begun) => told.push(begun.transaction) });
  assert.deepEqual(state, ACTIVE.state);
  assert.deepEqual(told, ['t1']);
  assert.deepEqual(sent.slice(2).map(([action, args]) => (action === 'call' ? args[2] : [action, ...args])),
    ['registration.begin', ['browse', BEGUN.action.url, false], 'registration.awaitOutcome']);
});

test('a sign-in that waits for confirmation goes on with its question, and no browser opens', async () => {
  const illegal = { status: 'illegalState', code: -3, blame: 'caller', retryable: false, message: 'x' };
  const question = { state: 'awaitingConfirmation', transaction: 't1', profile: { sub: 'alice' } };
  let now = question;
  const { open, of } = load({
    'registration.begin': (_, fail) => fail(illegal),
    'registration.state': (success) => success({ state: now }),
  });
  const client = await open();
  assert.deepEqual(await client.signIn(), question);
  now = ACTIVE.state;
  await assert.rejects(client.signIn(), refused('illegalState'));
  assert.deepEqual(of('browse'), []);
});

test('leaving a sign-in tells the library that the user left', async () => {
  const { open, of } = load({
    'registration.begin': BEGUN,
    'registration.awaitOutcome': (_, fail) => setImmediate(fail, { status: 'cancelled', code: -6, blame: 'caller', retryable: false, message: 'x' }),
  });
  const client = await open();
  await assert.rejects(client.signIn(), refused('cancelled'));
  assert.deepEqual(of('call').at(-1).slice(2), ['registration.cancel', { transaction: 't1' }]);
});

test('a browser that the user closed ends the sign-in', async () => {
  let end;
  const { open, of, tell } = load({ 'registration.begin': BEGUN, 'registration.awaitOutcome': (_, fail) => { end = fail; } });
  const client = await open();
  const signingIn = client.signIn();
  while (!end) await turn();
  tell({ type: 'browserClosed' });
  assert.deepEqual(of('cancel'), [[of('call').at(-1)[0]]]);
  end({ status: 'cancelled', code: -6, blame: 'caller', retryable: false, message: 'x' });
  await assert.rejects(signingIn, refused('cancelled'));
  assert.deepEqual(of('call').at(-1).slice(2), ['registration.cancel', { transaction: 't1' }]);
});

test('a signal that was aborted before the browser opened ends the sign-in, too', async () => {
  const stop = new AbortController();
  const { open, of } = load({ 'registration.begin': (success) => { stop.abort(); success(BEGUN); } });
  const client = await open();
  await assert.rejects(client.signIn({}, { signal: stop.signal }), refused('cancelled'));
  assert.deepEqual(of('browse'), []);
});

test('another app that is not there is told to the library', async () => {
  const begun = { ...BEGUN, action: { type: 'openOtherApp', url: 'https://bank.example/x' } };
  const { open, of } = load({
    'registration.begin': begun,
    native: { browse: (_, __, fail) => fail({ status: 'unsupported', code: -9, blame: 'host', retryable: false, message: 'no app' }) },
  });
  const client = await open();
  await assert.rejects(client.signIn({ kind: 'app2app' }), refused('unsupported'));
  assert.deepEqual(of('browse'), [[begun.action.url, true]]);
  assert.deepEqual(of('call').at(-1).slice(2), ['registration.otherAppMissing', { transaction: 't1' }]);
});

test('logging out opens the browser where there is a session to end', async () => {
  const there = load({ 'logout.begin': { url: 'https://id.example/end' } });
  assert.deepEqual(await (await there.open()).logOut(), { browser: true });
  assert.deepEqual(there.of('browse'), [['https://id.example/end', false]]);
  const gone = load();
  assert.deepEqual(await (await gone.open()).logOut({ localOnly: true }), { browser: false });
  assert.deepEqual(gone.of('browse'), []);
});

test('events go to the listeners of their client, by name or all, until they unsubscribe', async () => {
  const { open, tell } = load();
  const [a, b] = [await open(), await open({ account: 'b' })];
  const told = [];
  const stop = a.subscribe((event) => told.push(['all', event]));
  a.subscribe('token.renewed', ({ expiresAt }) => told.push(['renewed', expiresAt]));
  b.subscribe(() => told.push(['b']));
  tell({ type: 'event', client: a.id, name: 'token.renewed', parameters: { expiresAt: 9 } });
  assert.deepEqual(told, [['all', { name: 'token.renewed', client: a.id, expiresAt: 9 }], ['renewed', 9]]);
  stop();
  stop();
  tell({ type: 'event', client: a.id, name: 'logout.finished', parameters: {} });
  tell({ type: 'event', client: 'c99', name: 'token.renewed', parameters: { expiresAt: 9 } });
  assert.equal(told.length, 2);
});

test('a listener that fails keeps no other from being told', async (t) => {
  const complaints = t.mock.method(console, 'error', () => {});
  const { open, tell } = load();
  const client = await open();
  const told = [];
  client.subscribe(() => { throw new Error('listener'); });
  client.subscribe((event) => told.push(event.name));
  tell({ type: 'event', client: client.id, name: 'logout.finished', parameters: {} });
  assert.deepEqual(told, ['logout.finished']);
  assert.equal(complaints.mock.callCount(), 1);
});

test('there is one stream for all clients, and one that failed is asked for again', async () => {
  let works = false;
  const { open, of } = load({ native: { listen: (_, success, fail) => (works ? success({ type: 'ready' }) : fail('not yet')) } });
  await assert.rejects(open(), refused('unsupported'));
  works = true;
  await open();
  await open();
  assert.equal(of('listen').length, 2);
});

test('a URL goes to the client that waits for it, and the native part may forget it', async () => {
  const handle = (success, _, [, id]) => success({ kind: id === 'c2' ? 'registration' : 'unsolicited', offers: [], ...ACTIVE });
  const { enroll, open, tell, of } = load({ 'url.handle': handle });
  const [, b] = [await open(), await open({ account: 'b' })];
  const told = [];
  b.subscribe('url.handled', ({ outcome }) => told.push(outcome.kind));
  enroll.onUnclaimedURL(() => assert.fail('claimed'));
  tell({ type: 'url', id: 5, url: 'app:/cb?code=1' });
  await enroll.retryURLs();
  assert.deepEqual(told, ['registration']);
  assert.deepEqual(of('call').map(([, id, , { url }]) => [id, url]), [['c1', 'app:/cb?code=1'], ['c2', 'app:/cb?code=1']]);
  assert.deepEqual(of('taken'), [[5]]);
});

test('a URL that came before its client is offered when that is opened', async () => {
  const { enroll, open, tell, of } = load({ 'url.handle': { kind: 'registration', ...ACTIVE } });
  const first = await open();
  await first.close();
  tell({ type: 'url', id: 1, url: 'app:/cb' });
  await enroll.retryURLs();
  assert.equal(of('call').length, 0);
  await open();
  await enroll.retryURLs();
  assert.deepEqual(of('taken'), [[1]]);
});

test('a URL that nobody asked for is told once, and dropped when the app takes it', async () => {
  const { enroll, open, tell, of } = load({ 'url.handle': { kind: 'unsolicited', offers: [] } });
  await open();
  const told = [];
  const stop = enroll.onUnclaimedURL((url) => void told.push(url));
  tell({ type: 'url', id: 1, url: 'app:/strange' });
  await enroll.retryURLs();
  await enroll.retryURLs();
  assert.deepEqual([told, of('taken')], [['app:/strange'], []]);
  stop();
  enroll.onUnclaimedURL(() => true);
  tell({ type: 'url', id: 2, url: 'app:/mine' });
  await enroll.retryURLs();
  assert.deepEqual(of('taken'), [[2]]);
});

test('no more than four unclaimed URLs are held, the newest', async () => {
  const { enroll, open, tell, of } = load({ 'url.handle': { kind: 'unsolicited', offers: [] } });
  await open();
  for (let id = 1; id <= 6; id++) tell({ type: 'url', id, url: `app:/${id}` });
  await enroll.retryURLs();
  assert.deepEqual(of('taken'), [[1], [2]]);
});

test('a URL that met a bad network is offered again, one that was refused is not', async () => {
  let answer = (_, fail) => fail(NETWORK);
  const { enroll, open, tell, of } = load({ 'url.handle': (...args) => answer(...args) });
  const client = await open();
  const told = [];
  client.subscribe('url.handled', ({ error }) => told.push(error.status));
  tell({ type: 'url', id: 1, url: 'app:/link' });
  await enroll.retryURLs();
  assert.ok(told.length >= 1 && told.every((status) => status === 'network'));
  assert.deepEqual(of('taken'), []);
  answer = (_, fail) => fail({ status: 'accessDenied', code: -39, blame: 'user', retryable: false, message: 'no' });
  await enroll.retryURLs();
  assert.equal(told.at(-1), 'accessDenied');
  assert.deepEqual(of('taken'), [[1]]);
});

test('a link that leads on is followed into the browser', async () => {
  const { enroll, open, tell, of } = load({ 'url.handle': { kind: 'begun', ...BEGUN } });
  await open();
  tell({ type: 'url', id: 1, url: 'https://app.example/activate?x' });
  await enroll.retryURLs();
  assert.deepEqual(of('browse'), [[BEGUN.action.url, false]]);
});

test('closing ends what waits, and no call is sent afterwards', async () => {
  let end;
  const { open, of } = load({ 'registration.awaitOutcome': (_, fail) => { end = fail; } });
  const client = await open();
  const waiting = client.registration.awaitOutcome({ transaction: 't1' });
  await client.close();
  await client.close();
  assert.deepEqual(of('close'), [['c1']]);
  end({ status: 'handle', code: -2, blame: 'caller', retryable: false, message: 'the client was closed' });
  await assert.rejects(waiting, refused('cancelled'));
  await assert.rejects(client.token.access(), refused('handle'));
  assert.throws(() => client.subscribe(() => {}), refused('handle'));
});

test('secrets are had by their names and are in no listing', async () => {
  const secret = { accessToken: 'secret-1', idToken: 'secret-2', codeVerifier: 'secret-3', tokenType: 'Bearer' };
  const { enroll, open } = load({ 'token.access': secret, 'account.read': secret, 'pkce.generate': secret });
  const client = await open();
  for (const result of [await client.token.access(), await client.account.read(), await enroll.pkce.generate()]) {
    assert.deepEqual([result.accessToken, result.idToken, result.codeVerifier], ['secret-1', 'secret-2', 'secret-3']);
    const shown = [JSON.stringify(result), String(result), JSON.stringify({ ...result }), JSON.stringify(structuredClone(result)),
      require('node:util').inspect(result)].join();
    assert.ok(!shown.includes('secret'), shown);
    assert.ok(shown.includes('Bearer'));
  }
  assert.equal(JSON.stringify(client), '{"client":"c1"}');
  assert.equal(String(client), '[EnrollClient c1]');
});

test('a client cannot be changed under its users', async () => {
  const { open } = load();
  const client = await open();
  assert.throws(() => { 'use strict'; client.token = {}; }, TypeError);
  assert.throws(() => { 'use strict'; client.token.access = () => {}; }, TypeError);
});

