// The functions of the main process that the page may call. It gets no tokens and no ipcRenderer. Never run here: see
// README.md.
'use strict';

const { contextBridge, ipcRenderer } = require('electron');

async function ask(name) {
  const { result, error } = await ipcRenderer.invoke(`enroll:${name}`);
  if (error) throw new Error(error.status);
  return result;
}

contextBridge.exposeInMainWorld('session', {
  state: () => ask('state'),
  signIn: () => ask('signIn'),
  confirm: () => ask('confirm'),
  signOut: () => ask('signOut'),
  whoami: () => ask('whoami'),
  onChange: (listener) => void ipcRenderer.on('enroll:changed', (_event, state) => listener(state)),
});
