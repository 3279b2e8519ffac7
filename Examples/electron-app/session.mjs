// The app's session, without Electron, so that the tests can run this file under Node.js. The main process passes a
// folder, a secret store and a function that opens the browser.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { Enroll } from 'enrollkit';

const here = fileURLToPath(new URL('.', import.meta.url));

/** The provider and the client: the file that ENROLL_CONFIG names. */
export const configuration = JSON.parse(readFileSync(process.env.ENROLL_CONFIG ?? path.join(here, '../sandbox.json'), 'utf8'));

/** The URL scheme of redirects to the app; undefined with a loopback redirect, which the daemon receives. */
export const scheme = /^https?:/.test(configuration.redirectUri) ? undefined : configuration.redirectUri.split(':')[0];

/**
 * Opens the session.
 * @param {{ data: string, secrets?: import('enrollkit').SecretStore, openExternal: (url: string) => unknown }} parts
 */
export async function openSession({ data, secrets, openExternal }) {
  const enroll = await Enroll.start();
  /** @type {import('enrollkit').Keys | import('enrollkit').HostKeys} */
  const keys = secrets ? { host: secrets } : { provider: 'file' };
  const client = await enroll.open({ configuration, store: path.join(data, 'session'), keys, renewInBackground: true });
  const openInBrowser = (action) => action.type === 'openURL' && openExternal(action.url);
  return {
    client,
    /** The functions that the page may call. No result contains a token. */
    answers: {
      state: async () => (await client.registration.state()).state,
      signIn: async () => (await client.signIn({}, { present: openInBrowser })).state,
      confirm: async () => (await client.registration.confirm()).state.state,
      signOut: async () => void (await client.logOut({}, { present: openInBrowser })),
      // For your own API: (await client.fetch(url)).json()
      whoami: async () => (await client.identity.userinfo()).claims,
    },
    /** Handles a redirect; the call of `signIn` that waits for the redirect then returns. An unknown URL changes
     * nothing. */
    async handle(url) {
      if (!scheme || !url?.startsWith(`${scheme}:`)) return;
      await client.url.handle({ url }).catch((error) => console.error(String(error)));
    },
    /** Closes the session; first the tokens of a renewal in progress are stored. */
    close: () => enroll.close(),
  };
}
