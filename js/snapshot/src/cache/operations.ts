import { SnapshotError } from "../error.js";

/** Tracks the running operations of a cache, so that closing it can cancel and await them. */
export class Operations {
  readonly #directory: string;
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  /** @param directory the directory of the cache, for messages */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Is aborted when the cache is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Runs an operation. Rejects with `ERR_CACHE` if the cache has been closed. */
  run<T>(operation: () => Promise<T>): Promise<T> {
    if (this.signal.aborted) return Promise.reject(this.#closedError());
    const running = (async () => operation())();
    const ended = running.then(
      () => {},
      () => {},
    );
    this.#running.add(ended);
    void ended.then(() => this.#running.delete(ended));
    return running;
  }

  /** Aborts the signal, and rejects operations from now on. Returns the reason. */
  close(): SnapshotError {
    const reason = this.#closedError();
    this.#closing.abort(reason);
    return reason;
  }

  /** Waits until all running operations have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  #closedError(): SnapshotError {
    return new SnapshotError("ERR_CACHE", `the cache ${this.#directory} has been closed`);
  }
}
