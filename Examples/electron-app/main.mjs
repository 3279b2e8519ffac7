// The main process of an Electron app that signs in with EnrollKit. The app was never run: see README.md. session.mjs
// has the code for the session, which the tests run.

import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { app, BrowserWindow, ipcMain, safeStorage, shell } from 'electron';
import { EnrollError } from 'enrollkit';

import { openSession, scheme } from './session.mjs';

// Only one instance runs, and only it opens the store. If the system starts another instance with a redirect, Electron
// passes the redirect to the first instance.
if (!app.requestSingleInstanceLock()) app.exit();
if (scheme) app.setAsDefaultProtocolClient(scheme);

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
    // Syncing the folder makes the rename durable, too.
    const folder = await open(path.dirname(next));
    await folder.sync();
    await folder.close();
  },
  remove(name) {
    rmSync(this.file(name), { force: true });
  },
};

/** URLs that arrived before the session was open. */
const early = [];
let session;

const handle = (url) => (session ? session.handle(url) : early.push(url));
app.on('second-instance', (_event, line) => handle(line.at(-1)));
app.on('open-url', (event, url) => {
  event.preventDefault();
  handle(url);
});

let isEnding = false;
app.on('before-quit', async (event) => {
  if (isEnding || !session) return;
  isEnding = true;
  event.preventDefault();
  await session.close();
  app.quit();
});

await app.whenReady();
session = await openSession({ data, secrets, openExternal: (url) => shell.openExternal(url) });

for (const [name, answer] of Object.entries(session.answers)) {
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
for (const url of [...early.splice(0), process.argv.at(-1)]) await handle(url);

const window = new BrowserWindow({
  webPreferences: { preload: path.join(here, 'preload.cjs'), contextIsolation: true, sandbox: true, nodeIntegration: false },
});
session.client.on('registration.changed', ({ state }) => window.webContents.send('enroll:changed', state.state));
await window.loadFile(path.join(here, 'index.html'));
