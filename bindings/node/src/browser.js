// Opens a URL in the browser of the desktop.

import { spawn } from 'node:child_process';

import { failed } from './error.js';

const noBrowser = (cause) =>
  failed('unsupported', 'no browser could be opened; show the user the URL: present: (action) => console.log(action.url)', {
    blame: 'host', field: 'present',
  }, { cause });

/** Resolves when the browser has the URL, or soon; rejects if there is none. Only `xdg-open` is asked. */
export function openBrowser(url) {
  return new Promise((resolve, reject) => {
    const child = spawn('xdg-open', [url], { stdio: 'ignore', detached: true });
    child.once('error', (fault) => reject(noBrowser(fault)));
    child.once('exit', (code) => (code === 0 ? resolve() : reject(noBrowser(new Error(`xdg-open ended with status ${code}`)))));
    // Some browsers return only when they are closed; the program may end before.
    child.unref();
  });
}

/** The default `present` of `signIn`. */
export async function presentInBrowser(action) {
  if (action.type !== 'openURL') {
    throw failed('unsupported', `signIn cannot show the action ${action.type} by itself; pass \`present\``, { blame: 'caller', field: 'present' });
  }
  await openBrowser(action.url);
}
