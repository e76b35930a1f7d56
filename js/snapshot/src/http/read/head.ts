import type { Transfer } from "../../options/transfer-options.js";
import type { ServerRequest } from "../server-request.js";
import { follow } from "./follow.js";
import { isSame, type ObjectVersion, partOf, rangeHeaders } from "./object-version.js";

/** What an object begins with, which is asked for once, before anything is known of the object. */
export class Head {
  readonly bytes: SharedArrayBuffer;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #version: ObjectVersion | undefined;
  #filled = 0;

  /** @param length how many bytes are asked for */
  constructor(
    request: ServerRequest,
    length: number,
    transfer: Transfer,
    signal: AbortSignal | undefined,
  ) {
    this.bytes = new SharedArrayBuffer(length);
    const { signal: stop } = this.#stop;
    const either = signal === undefined ? stop : AbortSignal.any([signal, stop]);
    // Whatever goes wrong, it is asked for again like everything else.
    this.#done = this.#fetch(request, transfer, either).catch(() => {});
  }

  /** How many of its bytes came until now. */
  get received(): number {
    return this.#filled;
  }

  /** How many of its bytes there are of an object, when no more come. */
  async lengthOf(object: ObjectVersion): Promise<number> {
    await this.#done;
    return this.#version !== undefined && isSame(this.#version, object) ? this.#filled : 0;
  }

  /** Wants no more of it. What came is there. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #fetch(request: ServerRequest, transfer: Transfer, signal: AbortSignal): Promise<void> {
    const bytes = new Uint8Array(this.bytes);
    const headers = rangeHeaders({ start: 0, end: bytes.length }, undefined);
    await follow(request, headers, transfer, signal, async ({ response, download }) => {
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
