// Many waits may share one AbortSignal: a listener for each wait would make node warn of a leak.

const waits = new WeakMap();

/** Calls `callback` when the signal is aborted. Call the returned function to stop waiting for that. */
export function onAbort(signal, callback) {
  if (!signal) return () => {};
  let callbacks = waits.get(signal);
  if (!callbacks) {
    callbacks = new Set();
    waits.set(signal, callbacks);
    callbacks.listener = () => {
      for (const one of [...callbacks]) one();
    };
    signal.addEventListener('abort', callbacks.listener, { once: true });
  }
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size > 0 || waits.get(signal) !== callbacks) return;
    signal.removeEventListener('abort', callbacks.listener);
    waits.delete(signal);
  };
}
