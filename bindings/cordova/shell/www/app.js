// The app: it draws the state of the registration (docs/states.md), and its buttons call the plugin. Nothing
// in this file depends on WebKitGTK.

'use strict';

const view = document.getElementById('view');
const notice = document.getElementById('notice');

let client;
let shown = '';
let told = ''; // the failure that the view shows already: it is not shown twice
let leaving; // aborts the sign-in that this page waits for

/** An element: element('p', { class: 'soft' }, 'text', …children). */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'click') made.addEventListener('click', value);
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== ''));
  return made;
}

/** A button that is busy until its action is done, and shows an error if that fails. */
function button(text, act, quiet = false) {
  const made = element('button', { type: 'button', ...(quiet && { class: 'quiet' }) }, text);
  made.addEventListener('click', async () => {
    if (made.getAttribute('aria-disabled') === 'true') return;
    made.setAttribute('aria-disabled', 'true');
    told = '';
    say();
    try {
      await act();
    } catch (error) {
      complain(error);
    } finally {
      made.removeAttribute('aria-disabled');
    }
  });
  return made;
}

/** Advice for an error, in the user's words; other errors are shown as they are, with a contact. */
const WORDS = {
  network: 'We cannot reach the sign-in service. Check your connection, then try again.',
  timeout: 'The sign-in service took too long to answer. Please try again.',
  server: 'The sign-in service is in trouble right now. Please try again in a moment.',
  tls: 'The connection is not safe, so we stopped. Check the date of this device, or try another network.',
  accessDenied: 'The sign-in was declined. Nothing has changed.',
  transactionExpired: 'That took too long. Please sign in again.',
  codeRejected: 'That code is not right, or too old. Please type it again.',
  reauthenticate: 'Your session has ended. Please sign in again.',
  emailNotVerified: 'Your e-mail address is not confirmed yet. Open the link that was sent to you, then try again.',
  otherAppMissing: 'The other app is not on this device.',
  storeLocked: 'Your keyring is locked. Unlock it, then try again.',
  storeFull: 'There is no space left on this device.',
  unsupported: 'This device cannot open a browser.',
};

function say(text = '', good = false) {
  notice.className = good ? 'good' : '';
  notice.textContent = text;
}

const wordsFor = (error) =>
  WORDS[error.status] || `Something went wrong (${error.status || error.name}). Please try again, or ask for help.`;

function complain(error) {
  // The user cancelled, or a redirect arrived twice: neither is an error to show.
  if (error.status === 'cancelled' || error.status === 'alreadySettled') return;
  console.error(String(error));
  if (error.status !== told) say(wordsFor(error));
}

/** Shows a view. If another view was shown before, the focus of a screen reader moves to the new heading. */
function show(key, title, ...content) {
  const moved = shown !== '' && shown.split(':')[0] !== key.split(':')[0];
  shown = key;
  told = '';
  const heading = element('h1', { tabindex: '-1' }, title);
  view.replaceChildren(heading, ...content.filter(Boolean));
  view.dataset.state = key;
  if (moved) heading.focus();
}

const paragraph = (text, soft = false) => element('p', soft ? { class: 'soft' } : {}, text);

function person(claims) {
  const name = claims.name || claims.preferred_username || claims.email || 'Somebody';
  const letters = name.split(/\s+/).map((word) => word[0]).filter(Boolean).slice(0, 2).join('').toUpperCase();
  return element('div', { class: 'person' },
    element('span', { class: 'face', 'aria-hidden': 'true' }, letters),
    element('div', {}, element('strong', {}, name), claims.email && claims.email !== name ? claims.email : ''));
}

/* ---- What the buttons do ---- */

async function signIn(wish = {}) {
  if (leaving) leaving.abort();
  const mine = new AbortController();
  leaving = mine;
  try {
    draw(await client.signIn(wish, { signal: mine.signal }));
  } finally {
    if (leaving === mine) leaving = undefined;
  }
}

async function stop() {
  if (leaving) leaving.abort();
  draw((await client.registration.cancel()).state);
}

// Each answer names its transaction: another sign-in may have arrived meanwhile.
const confirmProfile = async (transaction) => draw((await client.registration.confirm({ transaction })).state);
const another = async (transaction) => {
  await client.registration.retry({ transaction });
  return signIn();
};
// Reads the state without `wait`. With `wait` the call would wait for a user who left the browser before the app
// ended, and who may never come back.
const look = async () => draw((await client.registration.state()).state);

async function renew() {
  const { error } = await client.token.refresh();
  await look();
  if (error) complain(error);
}

async function logOut() {
  await client.logOut();
  await look();
}

async function submitCode(transaction) {
  const code = document.getElementById('code').value.trim();
  const { state } = await client.registration.submitCode({ transaction, code });
  draw(state);
}

async function setPIN() {
  await client.pin.set({ pin: document.getElementById('pin').value });
  await look();
}

/* ---- The states ---- */

const STEPS = {
  browser: ['Continue in your browser', 'We opened it for you. Come back here when you are done.'],
  emailPending: ['Check your e-mail', 'Open the link that we sent you, on this device. You may close this app.'],
  codePending: ['Type the code', 'We sent you a code. It works once, and only for a few minutes.'],
  otherApp: ['Continue in the other app', 'It brings you back here when you are done.'],
  exchanging: ['Almost there', 'We are finishing your sign-in.'],
  pin: ['Choose a PIN', 'It protects what this app keeps of your account.'],
};

const STATES = {
  starting: () => show('starting', 'One moment …', element('div', { class: 'waiting', 'aria-hidden': 'true' })),

  unregistered: ({ choices = [] }) => show('unregistered', 'Welcome',
    paragraph('Sign in, or create an account, and stay signed in for months.', true),
    ...(choices.length > 0
      ? choices.map(({ connection, label }) => button(label, () => signIn({ options: { connection } })))
      : [button('Sign in', () => signIn()), button('Create an account', () => signIn({ kind: 'register' }), true)])),

  authenticating: ({ step, transaction }) => {
    const [title, text] = STEPS[step];
    show(`authenticating:${step}`, title,
      ['codePending', 'pin'].includes(step) ? undefined : element('div', { class: 'waiting', 'aria-hidden': 'true' }),
      paragraph(text),
      ...(step === 'pin'
        ? [element('label', { for: 'pin' }, 'PIN, at least four characters'),
          element('input', { id: 'pin', type: 'password', autocomplete: 'new-password', maxlength: '64' }),
          button('Set the PIN', setPIN)]
        : []),
      ...(step === 'codePending'
        ? [element('label', { for: 'code' }, 'Code'),
          element('input', { id: 'code', inputmode: 'numeric', autocomplete: 'one-time-code' }),
          button('Go on', () => submitCode(transaction))]
        : []),
      step === 'browser' ? button('Open the browser again', () => signIn()) : undefined,
      step === 'exchanging' ? button('Try again', () => enroll.retryURLs()) : undefined,
      button('Cancel', stop, true));
  },

  awaitingConfirmation: ({ transaction, profile }) => show('awaitingConfirmation', 'Is this you?',
    paragraph('You signed in with this account.', true),
    person(profile),
    button('Yes, that is me', () => confirmProfile(transaction)),
    button('Use another account', () => another(transaction), true)),

  active: async ({ reason }) => {
    if (reason === 'notNative') {
      const words = 'This is a preview: sign in with the app on your device.';
      show('active:notNative', 'You are looking around', paragraph(words));
      return;
    }
    // The page shows the token's outcome, not the token.
    const [{ claims }, access] = await Promise.all([client.identity.profile(), client.token.access()]);
    const { outcome, expiresAt, tokenType } = access;
    show(`active:${reason}`, 'You are signed in',
      person(claims),
      element('dl', {},
        row('Access', element('span', { class: outcome === 'valid' ? 'badge' : 'badge bad' }, OUTCOMES[outcome])),
        expiresAt ? row('Renews itself by', timeOf(expiresAt)) : '',
        tokenType ? row('Token', tokenType) : ''),
      button('Renew now', renew),
      button('Log out', logOut, true));
  },

  failed: ({ reason, error, remedy, tokenUsable }) => {
    const again = remedy === 'registerAgain' || reason === 'registration';
    const title = reason === 'registration' ? 'That did not work' : 'We could not renew your sign-in';
    show(`failed:${reason}`, title,
      paragraph(wordsFor(error)),
      tokenUsable ? paragraph('You can go on for now.', true) : undefined,
      again ? button('Sign in again', () => signIn()) : button('Try again', () => look()),
      again ? button('Start over', async () => draw((await client.registration.retry()).state), true) : undefined);
    told = error.status;
    if (notice.textContent === wordsFor(error)) say();
  },
};

/** The texts for the outcomes of a call for a token. */
const OUTCOMES = {
  valid: 'works',
  stale: 'works for now',
  expired: 'waits for a connection',
  rejected: 'refused for now',
  reauthenticate: 'has ended',
  storeLocked: 'is locked away',
  busy: 'is being renewed',
};

const timeOf = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
const row = (name, value) => element('div', {}, element('dt', {}, name), element('dd', {}, value));

let drawing = Promise.resolve();

/** Draws a state after all earlier states have been drawn. */
function draw(state) {
  drawing = drawing.then(() => STATES[state.state](state)).catch(complain);
  return drawing;
}

async function start() {
  try {
    const configuration = await (await fetch('configuration.json')).json();
    client = await enroll.open({ configuration, renewInBackground: true });
    client.subscribe('registration.changed', ({ state }) => draw(state));
    client.subscribe('token.renewed', () => say('Renewed.', true));
    client.subscribe('logout.finished', () => say('You are signed out, in your browser too.', true));
    client.subscribe('url.handled', ({ error }) => error && complain(error));
    await look();
  } catch (error) {
    console.error(String(error));
    show('stopped', 'We cannot go on yet', paragraph(wordsFor(error)), button('Try again', start));
  }
}

document.addEventListener('deviceready', start);
