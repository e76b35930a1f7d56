import type { Transfer } from "../../options/transfer-options.js";
import type { ServerRequest } from "../server-request.js";
import { get } from "./get.js";
import { isSame, type ObjectVersion, partOf, rangeHeaders } from "./object-version.js";

/** The first bytes of an object, requested once, before anything is known about the object. */
export class Prefix {
  readonly bytes: SharedArrayBuffer;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #isDone = false;
  #version: ObjectVersion | undefined;
  #filled = 0;

  /** @param length how many bytes to request */
  constructor(
    request: ServerRequest,
    length: number,
    transfer: Transfer,
    signal: AbortSignal | undefined,
  ) {
    this.bytes = new SharedArrayBuffer(length);
    const { signal: stop } = this.#stop;
    const either = signal === undefined ? stop : AbortSignal.any([signal, stop]);
    // If it fails, these bytes are fetched like all others.
    this.#done = this.#fetch(request, transfer, either)
      .catch(() => {})
      .finally(() => {
        this.#isDone = true;
      });
  }

  /** How many bytes have been received so far. */
  get received(): number {
    return this.#filled;
  }

  /** Returns bytes of that version of the object: undefined if they were not received, and will not be. */
  part(object: ObjectVersion, start: number, end: number): Uint8Array | "coming" | undefined {
    if (end > this.bytes.byteLength) return undefined;
    if (this.#version !== undefined && !isSame(this.#version, object)) return undefined;
    if (this.#filled >= end) return new Uint8Array(this.bytes, start, end - start);
    return this.#isDone ? undefined : "coming";
  }

  /** Waits for the request to end, and returns how many bytes of that version of the object it brought. */
  async lengthOf(object: ObjectVersion): Promise<number> {
    await this.#done;
    return this.#version !== undefined && isSame(this.#version, object) ? this.#filled : 0;
  }

  /** Cancels the request. Bytes that were received stay. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #fetch(request: ServerRequest, transfer: Transfer, signal: AbortSignal): Promise<void> {
    const bytes = new Uint8Array(this.bytes);
    const headers = rangeHeaders({ start: 0, end: bytes.length }, undefined);
    await get(request, headers, transfer, signal, async ({ response, download }) => {
      const { start, version } = partOf(response);
      if (start !== 0) return;
      this.#version = version;
      await download.body(response, (part) => {
        const room = bytes.length - this.#filled;
        bytes.set(part.subarray(0, room), this.#filled);
        this.#filled += Math.min(part.length, room);
        if (part.length > room) download.cancel();
      });
    });
  }
}
