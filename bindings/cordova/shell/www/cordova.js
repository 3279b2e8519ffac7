// This shell's replacement for Cordova's own cordova.js: modules, `cordova.exec`, and the event
// `deviceready`. The plugin's script (enroll.js), which uses it, is unchanged.

'use strict';

(() => {
  const factories = new Map();
  const modules = new Map();
  const pending = new Map();
  let last = 0;

  const define = (id, factory) => factories.set(id, factory);

  const require = (id) => {
    if (!modules.has(id)) {
      if (!factories.has(id)) throw new Error(`module ${id} not found`);
      const module = { id, exports: {} };
      modules.set(id, module);
      factories.get(id)(require, module.exports, module);
    }
    return modules.get(id).exports;
  };

  const exec = (success, fail, service, action, args = []) => {
    const callback = ++last;
    pending.set(callback, { success, fail, keep: action === 'listen' });
    const detail = JSON.stringify({ callback, service, action, arguments: args });
    document.dispatchEvent(new CustomEvent('enroll-request', { detail }));
  };

  document.addEventListener('enroll-answer', ({ detail }) => {
    const { callback, ok, value } = JSON.parse(detail);
    const call = pending.get(callback);
    if (!call) return;
    if (!ok || !call.keep) pending.delete(callback);
    (ok ? call.success : call.fail)(value);
  });

  define('cordova/exec', (_require, _exports, module) => {
    module.exports = exec;
  });
  window.cordova = { define, require, exec };

  document.addEventListener('DOMContentLoaded', () => {
    // plugin.xml's <clobbers target="enroll">.
    window.enroll = require('enrollkit-cordova.enroll');
    document.dispatchEvent(new Event('deviceready'));
  });
})();
