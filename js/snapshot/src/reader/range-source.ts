import { pause } from "../abort.js";
import { SnapshotError } from "../error.js";
import { CleanCause, safeName } from "../http/failure.js";
import { isRetryableStatus, nextDelay, retryAfter } from "../http/retry.js";
import type { OpenSource } from "./reader-source.js";

/** The number of bytes to request first: the header, which is needed later, and a little more. */
const START_LENGTH = 64;

/** The number of retries of a request before giving up. */
const RETRIES = 6;

const CONTENT_RANGE = /^bytes (?:(\d{1,16})-\d{1,16}|\*)\/(\d{1,16})$/i;

/** An object on a server, read by range requests that browsers send to other origins without a preflight request. */
export class RangeSource implements OpenSource {
  readonly name: string;
  readonly #send: typeof fetch;
  /** The first bytes. */
  #start: Uint8Array = new Uint8Array();
  /** The size and the ETag, which must not change. */
  #size: number | undefined;
  #etag: string | null = null;

  private constructor(
    readonly url: URL,
    send: typeof fetch,
  ) {
    this.name = safeName(url);
    this.#send = send;
  }

  /** Opens an object. @throws {SnapshotError} `ERR_SOURCE`, and the signal's reason */
  static async open(url: URL, send: typeof fetch, signal?: AbortSignal): Promise<RangeSource> {
    const source = new RangeSource(url, send);
    await source.#settled(signal, async () => {
      source.#start = await source.#readRange(0, START_LENGTH, signal);
      source.#size ??= await source.#requestSize(signal);
    });
    return source;
  }

  get size(): number {
    return this.#size ?? 0;
  }

  async read(position: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const end = position + length;
    if (end <= this.#start.length) return this.#start.subarray(position, end);
    return this.#settled(signal, async () => {
      const bytes = await this.#readRange(position, length, signal);
      if (bytes.length === length) return bytes;
      throw this.#error(`expected ${length} bytes at ${position}, found ${bytes.length}`);
    });
  }

  /** Servers tell the size with each range, but few let pages of other origins see it; all show `Content-Length`. */
  async #requestSize(signal: AbortSignal | undefined): Promise<number> {
    const { status, headers } = await this.#request({ method: "HEAD" }, signal);
    if (status !== 200) throw this.#error(`expected status 200, found ${status}`, status);
    const length = headers.get("content-length") ?? "";
    if (/^\d{1,16}$/.test(length)) return Number(length);
    throw this.#error("expected Content-Range or Content-Length, found neither");
  }

  /** Requests a range. The server may send fewer bytes, but not more. */
  async #readRange(
    position: number,
    length: number,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> {
    const range = `bytes=${position}-${position + length - 1}`;
    const response = await this.#request({ headers: { range } }, signal);
    const problem = this.#problemOf(response, position);
    if (problem !== undefined) {
      await response.body?.cancel();
      throw problem;
    }
    const bytes = await bytesOf(response, length);
    if (bytes !== undefined) return bytes;
    throw this.#error(`expected ${length} bytes at ${position}, found more`);
  }

  /** Returns why a response does not hold the bytes at a position of the open object. */
  #problemOf({ status, headers }: Response, position: number): SnapshotError | undefined {
    const [, first, size] = CONTENT_RANGE.exec(headers.get("content-range") ?? "") ?? [];
    this.#size ??= size === undefined ? undefined : Number(size);
    if (size !== undefined && Number(size) !== this.#size) {
      return this.#changed(`expected ${this.#size} bytes, found ${size}`);
    }
    if (status !== 206) {
      const hint = status === 200 ? ": the server does not answer range requests" : "";
      return this.#error(`expected status 206, found ${status}${hint}`, status);
    }
    if (first !== undefined && Number(first) !== position) {
      return this.#error(`expected bytes at ${position}, found those at ${first}`);
    }
    const etag = headers.get("etag");
    this.#etag ??= etag;
    return etag === null || etag === this.#etag ? undefined : this.#changed("its ETag differs");
  }

  /** Sends a request, again after a status with which the same request may soon succeed. */
  async #request(init: RequestInit, signal: AbortSignal | undefined): Promise<Response> {
    // Browsers refuse to call `fetch` as a method.
    const send = this.#send;
    for (let failures = 1; ; failures += 1) {
      // A cache may hold another version.
      const sent = { ...init, cache: "no-store", ...(signal && { signal }) } as const;
      const response = await send(this.url.href, sent);
      const { status, headers, body } = response;
      const failure = {
        isTransient: isRetryableStatus(status),
        retryAfter: retryAfter(headers.get("retry-after"), Date.now()),
      };
      const delay = nextDelay(failure, failures, RETRIES);
      if (delay === undefined) return response;
      await body?.cancel();
      await pause(delay, signal);
    }
  }

  async #settled<T>(signal: AbortSignal | undefined, action: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    try {
      return await action();
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof SnapshotError) throw error;
      // Node gives the reason in the cause.
      const reason = (error as Error | undefined)?.cause ?? error;
      const cause = new CleanCause(reason, undefined, [this.url.search]);
      // For status 407, Node gives none.
      throw this.#error(cause.description || "the request failed", undefined, cause);
    }
  }

  #changed(problem: string): SnapshotError {
    const message = `${this.name}: the object changed while it was read: ${problem}`;
    return new SnapshotError("ERR_SOURCE_CHANGED", message);
  }

  #error(problem: string, status?: number, cause?: unknown): SnapshotError {
    const message = `cannot read ${this.name}: ${problem}`;
    return new SnapshotError("ERR_SOURCE", message, { status, cause });
  }
}

/** Returns the body of a response, or undefined if it has more than `most` bytes: a server may send any number. */
async function bytesOf({ body }: Response, most: number): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(most);
  const reader = body?.getReader();
  for (let length = 0; ; ) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return bytes.subarray(0, length);
    if (length + value.length > most) {
      await reader?.cancel();
      return undefined;
    }
    bytes.set(value, length);
    length += value.length;
  }
}
