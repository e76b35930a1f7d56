import type { SnapshotBytes } from "../../format/manifest.js";
import type { Transfer } from "../../options/transfer-options.js";
import type { Endpoint } from "../client.js";
import type { ServerRequest } from "../server-request.js";
import { type Found, findEnd } from "./find-end.js";
import { follow } from "./follow.js";
import { Head } from "./head.js";
import { type ByteRange, checkPart, type ObjectVersion, rangeHeaders } from "./object-version.js";
import { withRetries } from "./with-retries.js";

/** How an object is opened. */
export interface OpenOptions {
  /** What it is called in messages. */
  readonly name: string;
  readonly transfer: Transfer;
  readonly signal: AbortSignal | undefined;
  /** How many bytes of its beginning are asked for at once. */
  readonly headLength: number;
}

/** An object of a server that has ranges, pinned to what it was when it was opened. */
export class RemoteObject implements SnapshotBytes {
  readonly #found: Found;
  readonly #options: OpenOptions;

  private constructor(
    found: Found,
    /** What it begins with, if that was asked for. */
    readonly head: Head | undefined,
    /** How long its end took to come, in milliseconds. */
    readonly duration: number,
    options: OpenOptions,
  ) {
    this.#found = found;
    this.#options = options;
  }

  /**
   * Opens an object. Returns undefined if the server has no ranges.
   *
   * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`
   */
  static async open(
    request: ServerRequest,
    options: OpenOptions,
  ): Promise<RemoteObject | undefined> {
    const { name, transfer, signal, headLength } = options;
    const head = headLength > 0 ? new Head(request, headLength, transfer, signal) : undefined;
    const begun = performance.now();
    let found: Found | undefined;
    try {
      const end = () => findEnd(request, transfer, signal);
      found = await withRetries(`cannot read ${name}`, transfer, signal, end);
    } finally {
      if (found === undefined) await head?.stop();
    }
    return found && new RemoteObject(found, head, performance.now() - begun, options);
  }

  get name(): string {
    return this.#options.name;
  }

  get size(): number {
    return this.version.size;
  }

  get version(): ObjectVersion {
    return this.#found.version;
  }

  get endpoint(): Endpoint {
    const { url, secret } = this.#found.request;
    return { url: url.href, headers: secret };
  }

  get transfer(): Transfer {
    return this.#options.transfer;
  }

  /** What it ends with, which is there. */
  get tail(): SharedArrayBuffer {
    return this.#found.tail.buffer;
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const { tail } = this.#found;
    const start = position - (this.size - tail.length);
    if (start >= 0) return tail.subarray(start, start + length);
    return this.#ask(new Uint8Array(length), { start: position, end: position + length });
  }

  /** Asks for what it ends with once more. */
  async refresh(): Promise<void> {
    const { tail } = this.#found;
    await this.#ask(tail, { start: this.size - tail.length, end: this.size });
  }

  /** Wants no more of it. */
  async close(): Promise<void> {
    await this.head?.stop();
  }

  #ask(bytes: Uint8Array, wanted: ByteRange): Promise<Uint8Array> {
    const { name, transfer, signal } = this.#options;
    return withRetries(`cannot read ${name}`, transfer, signal, () => this.#fill(bytes, wanted));
  }

  /** Asks for bytes once. @throws {Failure} */
  #fill(bytes: Uint8Array, wanted: ByteRange): Promise<Uint8Array> {
    const { transfer, signal } = this.#options;
    const headers = rangeHeaders(wanted, this.version);
    return follow(this.#found.request, headers, transfer, signal, async (answer) => {
      checkPart(answer.response, wanted, this.version);
      await answer.download.fill(answer.response, bytes);
      return bytes;
    });
  }
}
