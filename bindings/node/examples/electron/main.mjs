// The main process of an Electron app that signs in with EnrollKit. Never run here: see README.md.

import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { app, BrowserWindow, ipcMain, safeStorage, shell } from 'electron';
import { Enroll, EnrollError } from 'enrollkit';

const SCHEME = 'com.example.app';
const API = 'https://api.example';

const configuration = {
  issuer: 'https://id.example',
  clientId: 'desktop-app',
  redirectUri: `${SCHEME}:/callback`,
  scopes: 'openid profile email offline_access',
};

// One instance has the store open and receives the redirects of all.
if (!app.requestSingleInstanceLock()) app.exit();
app.setAsDefaultProtocolClient(SCHEME);

const data = app.getPath('userData');
const here = fileURLToPath(new URL('.', import.meta.url));

/** The secret that wraps the store's key, sealed by the desktop's keyring. */
const secrets = {
  file: (name) => path.join(data, 'secrets', name),
  load(name) {
    try {
      return new Uint8Array(Buffer.from(safeStorage.decryptString(readFileSync(this.file(name))), 'base64'));
    } catch (error) {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    }
  },
  async save(name, secret) {
    mkdirSync(path.dirname(this.file(name)), { recursive: true, mode: 0o700 });
    const sealed = safeStorage.encryptString(Buffer.from(secret).toString('base64'));
    const next = `${this.file(name)}.new`;
    const file = await open(next, 'w', 0o600);
    await file.writeFile(sealed);
    await file.sync();
    await file.close();
    await rename(next, this.file(name));
    // The name is durable as well.
    const folder = await open(path.dirname(next));
    await folder.sync();
    await folder.close();
  },
  remove(name) {
    rmSync(this.file(name), { force: true });
  },
};

/** URLs that came before the client was open. */
const early = [];
/** @type {import('enrollkit').EnrollClient} */
let client;
/** @type {import('enrollkit').Enroll} */
let enroll;

async function handle(url) {
  if (!url?.startsWith(`${SCHEME}:`)) return;
  if (!client) {
    early.push(url);
    return;
  }
  // An unknown URL changes nothing; a sign-in that waits gets its outcome by itself.
  await client.url.handle({ url }).catch((error) => console.error(String(error)));
}

app.on('second-instance', (_event, line) => handle(line.at(-1)));
app.on('open-url', (event, url) => {
  event.preventDefault();
  handle(url);
});

let isEnding = false;
app.on('before-quit', async (event) => {
  if (isEnding || !enroll) return;
  isEnding = true;
  event.preventDefault();
  await enroll.close(); // tokens of a renewal in progress are stored first
  app.quit();
});

const openInBrowser = (action) => action.type === 'openURL' && shell.openExternal(action.url);

/** What the page may ask for. No result holds a token. */
const answers = {
  state: async () => (await client.registration.state()).state,
  signIn: async () => (await client.signIn({}, { present: openInBrowser })).state,
  confirm: async () => (await client.registration.confirm()).state.state,
  signOut: async () => void (await client.logOut({}, { present: openInBrowser })),
  things: async () => (await client.fetch(`${API}/things`)).json(),
};

for (const [name, answer] of Object.entries(answers)) {
  ipcMain.handle(`enroll:${name}`, async (event) => {
    if (!event.senderFrame?.url.startsWith('file://')) throw new Error('this page may not ask');
    try {
      return { result: await answer() };
    } catch (error) {
      if (!(error instanceof EnrollError)) throw error;
      return { error: { status: error.status, retryable: error.retryable } };
    }
  });
}

await app.whenReady();
enroll = await Enroll.start();
client = await enroll.open({ configuration, store: path.join(data, 'session'), keys: { host: secrets }, renewInBackground: true });
for (const url of [...early.splice(0), process.argv.at(-1)]) await handle(url);

const window = new BrowserWindow({
  webPreferences: { preload: path.join(here, 'preload.cjs'), contextIsolation: true, sandbox: true, nodeIntegration: false },
});
client.on('registration.changed', ({ state }) => window.webContents.send('enroll:changed', state.state));
await window.loadFile(path.join(here, 'index.html'));
