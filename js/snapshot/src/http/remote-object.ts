import type { ByteRange } from "../format/byte-ranges.js";
import type { SnapshotBytes } from "../format/manifest.js";
import { type Endpoint, get, type HttpClient, withReadRetries } from "./get.js";
import { fetchTail, type ObjectTail, Prefix, TAIL_LENGTH } from "./object-ends.js";
import { checkPart, NO_CACHE, type ObjectVersion, rangeHeaders } from "./object-version.js";
import type { ServerRequest } from "./request.js";
import type { Transfer } from "./transfer.js";

/** An object to open, and what to request with it. */
export interface OpenOptions {
  /** The name of the object in messages. */
  readonly name: string;
  /** The URL of the object in events, without secrets. */
  readonly url: string;
  /** Returns the request for the object, with a new signature if it is signed. */
  readonly locate: () => Promise<ServerRequest>;
  readonly transfer: Transfer;
  readonly signal: AbortSignal | undefined;
  /** How many bytes of its beginning to request together with its tail, or 0. */
  readonly prefixLength: number;
  /** How many bytes of its end to request. Default: enough for most manifests. */
  readonly tailLength?: number;
  /** Whether to leave its connection open for further requests. Default: `false`. */
  readonly keepsConnection?: boolean;
}

/** An object on a server that supports ranges. Every read checks that it is still the version that was opened. */
export class RemoteObject implements SnapshotBytes {
  readonly #tail: ObjectTail;
  readonly #options: OpenOptions;
  /** The request for the object, after all redirects. */
  #request: ServerRequest;
  #renewing: Promise<void> | undefined;

  private constructor(
    tail: ObjectTail,
    /** Its first bytes, if they were requested. */
    readonly prefix: Prefix | undefined,
    /** How long the request for its tail took, in milliseconds. */
    readonly duration: number,
    options: OpenOptions,
  ) {
    this.#tail = tail;
    this.#request = tail.request;
    this.#options = options;
  }

  /**
   * Opens an object. Returns undefined if the server does not support ranges.
   *
   * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`
   */
  static async open(
    request: ServerRequest,
    options: OpenOptions,
  ): Promise<RemoteObject | undefined> {
    const { name, transfer, signal, prefixLength } = options;
    const { tailLength = TAIL_LENGTH, keepsConnection = false } = options;
    const prefix =
      prefixLength > 0 ? new Prefix(request, prefixLength, transfer, signal) : undefined;
    const begun = performance.now();
    let tail: ObjectTail | undefined;
    try {
      const fetch = () => fetchTail(request, tailLength, transfer, signal, keepsConnection);
      tail = await withReadRetries(name, transfer, signal, fetch);
    } finally {
      if (tail === undefined) await prefix?.stop();
    }
    return tail && new RemoteObject(tail, prefix, performance.now() - begun, options);
  }

  get name(): string {
    return this.#options.name;
  }

  get url(): string {
    return this.#options.url;
  }

  get size(): number {
    return this.version.size;
  }

  get version(): ObjectVersion {
    return this.#tail.version;
  }

  get endpoint(): Endpoint {
    const { url, secret } = this.#request;
    return { url: url.href, headers: secret };
  }

  get transfer(): Transfer {
    return this.#options.transfer;
  }

  /** The client with its open connection, if that was to be kept. */
  get client(): HttpClient | undefined {
    return this.#tail.client;
  }

  /** Its last bytes, which are in memory. */
  get tail(): SharedArrayBuffer {
    return this.#tail.bytes.buffer;
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const { bytes } = this.#tail;
    const start = position - (this.size - bytes.length);
    if (start >= 0) return bytes.subarray(start, start + length);
    return this.#fetch(new Uint8Array(length), { start: position, end: position + length });
  }

  /** Fetches its tail again, and makes HTTP caches do so. */
  async refresh(): Promise<void> {
    const { bytes } = this.#tail;
    await this.#fetch(bytes, { start: this.size - bytes.length, end: this.size }, NO_CACHE);
  }

  /**
   * Looks up the location of the object again: a signature in its URL, or in that of a redirect, may have expired.
   *
   * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, `ERR_ARGUMENT`
   */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(): Promise<void> {
    const { name, transfer, signal, locate } = this.#options;
    const first = await locate();
    const range = { start: 0, end: 1 };
    const headers = rangeHeaders(range, this.version);
    this.#request = await withReadRetries(name, transfer, signal, () =>
      get(first, headers, transfer, signal, async ({ response, request }) => {
        checkPart(response, range, this.version);
        return request;
      }),
    );
  }

  /** Cancels the request for its prefix, and closes its connection. */
  async close(): Promise<void> {
    this.client?.close();
    await this.prefix?.stop();
  }

  #fetch(
    bytes: Uint8Array,
    range: ByteRange,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Uint8Array> {
    const { name, transfer, signal } = this.#options;
    const headers = { ...rangeHeaders(range, this.version), ...more };
    return withReadRetries(name, transfer, signal, () => this.#fetchOnce(bytes, range, headers));
  }

  /** @throws {RequestFailure} */
  #fetchOnce(
    bytes: Uint8Array,
    range: ByteRange,
    headers: Readonly<Record<string, string>>,
  ): Promise<Uint8Array> {
    const { transfer, signal } = this.#options;
    return get(this.#request, headers, transfer, signal, async ({ response, download }) => {
      checkPart(response, range, this.version);
      await download.fill(bytes);
      return bytes;
    });
  }
}
