// Opens a URL in the browser of the desktop.

import { spawn } from 'node:child_process';

import { failed } from './error.js';

const noBrowser = (cause) =>
  failed('unsupported', 'no browser could be opened; show the user the URL: present: (action) => console.log(action.url)', {
    blame: 'host', field: 'present',
  }, { cause });

/** How long to wait for a browser that returns only when the user closes it, in milliseconds. */
const A_MOMENT = 3000;

/**
 * Resolves when `xdg-open` has ended; with some browsers it ends only when the user closes them. Rejects if there is
 * no browser. A browser that is still open does not keep the program running.
 */
function openBrowser(url) {
  return new Promise((resolve, reject) => {
    const child = spawn('xdg-open', [url], { stdio: 'ignore', detached: true });
    // Node's own error contains the arguments, so it is not passed on: a URL may contain an id_token.
    child.once('error', ({ code, message }) => reject(noBrowser(Object.assign(new Error(message), { code }))));
    child.once('exit', (code) => (code === 0 ? resolve() : reject(noBrowser(new Error(`xdg-open ended with status ${code}`)))));
    child.unref();
  });
}

/** Resolves when `xdg-open` has ended, or after three seconds, for a caller that waits for nothing else. */
export async function openBrowserSoon(url) {
  let timer;
  const moment = new Promise((resolve) => (timer = setTimeout(resolve, A_MOMENT)));
  try {
    await Promise.race([openBrowser(url), moment]);
  } finally {
    clearTimeout(timer);
  }
}

/** The default `present` of `signIn`. */
export async function presentInBrowser(action) {
  if (action.type !== 'openURL') {
    throw failed('unsupported', `signIn cannot show the action ${action.type} by itself; pass \`present\``, { blame: 'caller', field: 'present' });
  }
  await openBrowser(action.url);
}
