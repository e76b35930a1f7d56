/** The parts of an upload: they are sent while more is written. */
import { setMaxListeners } from "node:events";

import { unlessAborted } from "../abort.js";
import type { UploadPlan } from "./object-service.js";

/** How many bytes of parts are uploaded at a time, unless two parts have more. */
const MAX_BYTES_IN_FLIGHT = 2 ** 27;

/** Splits written bytes into parts, and sends several parts at a time. The first error ends the upload. */
export class UploadParts {
  readonly #maxPending: number;
  readonly #ended = new AbortController();
  readonly #pending = new Set<Promise<void>>();
  /** Buffers of parts that were sent, for reuse. */
  readonly #buffers: Buffer[] = [];
  #part: Buffer | undefined;
  #filled = 0;

  /** @param send sends a part; `start` calls it in their order */
  constructor(
    private readonly plan: UploadPlan,
    private readonly send: (part: Uint8Array) => Promise<unknown>,
  ) {
    const { connections, partSize } = plan;
    this.#maxPending = Math.min(
      connections,
      Math.max(2, Math.floor(MAX_BYTES_IN_FLIGHT / partSize)),
    );
    // Every pending part listens to it.
    setMaxListeners(0, this.signal);
  }

  /** Aborted when the upload ends early, with the first error. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * Calls `use`, which writes and commits the upload. If that fails, or the signal of the plan is aborted, ends all parts,
   * and calls `discard`.
   *
   * @throws the first error
   */
  async run<T>(use: () => Promise<T>, discard?: () => Promise<void>): Promise<T> {
    const { signal } = this.plan;
    const abort = () => this.#ended.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await use();
    } catch (error) {
      this.#ended.abort(error);
      await discard?.();
      // The first error is the cause of all others.
      throw this.signal.reason;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Writes bytes, and reads them no faster than they are sent. */
  async write(bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const iterator = bytes[Symbol.asyncIterator]();
    for (;;) {
      // The next bytes may take long. If a part fails, stop waiting for them.
      const next = await unlessAborted(iterator.next(), this.signal);
      if (next.done) return;
      await this.#take(next.value);
    }
  }

  async #take(bytes: Uint8Array): Promise<void> {
    for (let taken = 0; taken < bytes.length; ) {
      // A full part waits for the next byte, so that the last part is never empty.
      if (this.#filled === this.plan.partSize) await this.#sendPart();
      this.#part ??= this.#buffers.pop() ?? Buffer.allocUnsafeSlow(this.plan.partSize);
      const chunk = bytes.subarray(taken, taken + this.plan.partSize - this.#filled);
      this.#part.set(chunk, this.#filled);
      this.#filled += chunk.length;
      taken += chunk.length;
    }
  }

  async #sendPart(): Promise<void> {
    const part = this.#part ?? Buffer.alloc(0);
    const length = this.#filled;
    this.#part = undefined;
    this.#filled = 0;
    await this.start(async () => {
      await this.send(part.subarray(0, length));
      // After a failure the buffer may still be in use.
      this.#buffers.push(part);
    });
  }

  /** Starts a request as soon as fewer than the limit are pending. */
  async start(request: () => Promise<unknown>): Promise<void> {
    while (this.#pending.size >= this.#maxPending) await Promise.race(this.#pending);
    this.signal.throwIfAborted();
    const pending = request().then(
      () => {},
      (error) => this.#ended.abort(error),
    );
    this.#pending.add(pending);
    void pending.then(() => this.#pending.delete(pending));
  }

  /** The bytes after the last part that was sent: less than a part, or a whole one if nothing follows. */
  get rest(): Uint8Array {
    return (this.#part ?? Buffer.alloc(0)).subarray(0, this.#filled);
  }

  /** Sends the rest, and waits for all parts. */
  async finish(): Promise<void> {
    if (this.#filled > 0) await this.#sendPart();
    await this.settled();
    this.signal.throwIfAborted();
  }

  /** Waits until no request is pending. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
