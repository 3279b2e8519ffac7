// The events of one client, in their order, for `for await`.

export class EventStream {
  /** The number of events that are kept while nobody reads them; older ones are dropped. */
  static KEPT = 1024;

  #events = [];
  #readers = [];
  #isOver = false;
  #leave;
  #daemon;

  constructor(daemon, leave) {
    this.#daemon = daemon;
    this.#leave = leave;
  }

  push(event) {
    if (this.#isOver) return;
    const reader = this.#readers.shift();
    if (reader) {
      this.#daemon.release();
      reader({ value: event, done: false });
    } else if (this.#events.push(event) > EventStream.KEPT) this.#events.shift();
  }

  /** Ends the stream; events that came before can still be read. */
  end() {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leave(this);
    for (const reader of this.#readers.splice(0)) {
      this.#daemon.release();
      reader({ value: undefined, done: true });
    }
  }

  next() {
    if (this.#events.length > 0) return Promise.resolve({ value: this.#events.shift(), done: false });
    if (this.#isOver) return Promise.resolve({ value: undefined, done: true });
    this.#daemon.hold();
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  return() {
    this.#events = [];
    this.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}
