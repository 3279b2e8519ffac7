// The search of the site runs in a worker, but a browser starts no worker for a page from the disk (file:). For such a
// page, an iframe replaces the worker: the iframe's window runs the script and passes on the messages.
if (location.protocol === 'file:') {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement('iframe');
      this.frame.hidden = true;
      this.frame.title = 'search';
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      inner.document.open();
      inner.document.write('<!doctype html><title>search</title>');
      inner.document.close();
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent('message', { data }));
      inner.importScripts = (...names) => names.reduce((before, name) => before.then(() => run(inner, name)), Promise.resolve());
      this.ready = run(inner, String(url));
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent('message', { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}

function run(inner, url) {
  return new Promise((done, fail) => {
    const script = inner.document.createElement('script');
    Object.assign(script, { src: url, onload: done, onerror: () => fail(new Error(`${url} was not loaded`)) });
    inner.document.head.append(script);
  });
}
