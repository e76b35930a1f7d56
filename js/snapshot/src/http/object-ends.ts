/** The two requests that open an object: for its last bytes, and for its first ones at the same time. */
import { RequestFailure, type ResponseHead } from "./failure.js";
import { get, type HttpClient, type OpenResponse } from "./get.js";
import {
  contentLength,
  isSame,
  type ObjectVersion,
  objectSize,
  partOf,
  rangeHeaders,
  versionOf,
} from "./object-version.js";
import type { ServerRequest } from "./request.js";
import type { Transfer } from "./transfer.js";

/**
 * How many bytes are requested from the end of an object: the manifest of 10,000 frames, which hold 10 GB of
 * data. More would take longer than a second request.
 */
export const TAIL_LENGTH = 2 ** 19;

/** The last bytes of an object, and what the response said about it. */
export interface ObjectTail {
  /** The request for the object, after all redirects. */
  readonly request: ServerRequest;
  readonly version: ObjectVersion;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  /** The client with the open connection, if it was to be kept. Its owner closes it. */
  readonly client?: HttpClient | undefined;
}

/** Statuses by which servers refuse ranges from the end, among other reasons. */
const REFUSED_SUFFIX: ReadonlySet<unknown> = new Set([400, 416, 501]);

/**
 * Fetches the last `length` bytes of an object. Returns undefined if the server does not support ranges.
 *
 * @param keepsConnection whether to leave the connection open
 * @throws {RequestFailure}
 */
export async function fetchTail(
  request: ServerRequest,
  length: number,
  transfer: Transfer,
  signal: AbortSignal | undefined,
  keepsConnection: boolean,
): Promise<ObjectTail | undefined> {
  const fetch = <T>(range: string, use: (open: OpenResponse) => Promise<T>) =>
    get(request, { range }, transfer, signal, use);
  // The first byte tells the size, too, or why requests are refused.
  const sizeFound = () => fetch("bytes=0-0", sizeByFirstByte);
  const found = request.lacksSuffixRanges
    ? await sizeFound()
    : await fetch(`bytes=-${length}`, async (open): Promise<ObjectTail | number> => {
        const size = sizeIn(open.response);
        if (size !== undefined) return size;
        if (REFUSED_SUFFIX.has(open.response.statusCode)) return sizeFound();
        return readTail(open, length, keepsConnection);
      });
  if (typeof found !== "number") return found;
  if (found === 0) return { request, version: versionOf(0, {}), bytes: sharedBytes(0) };
  if (Number.isNaN(found)) return undefined;
  return fetch(`bytes=${Math.max(0, found - length)}-${found - 1}`, async (open) =>
    sizeIn(open.response) === undefined ? readTail(open, length, keepsConnection) : undefined,
  );
}

/**
 * Returns the size of an object from a response that has no bytes of a range, `NaN` if it stays unknown; undefined for
 * any other response. Some servers send a partial response without bytes for an empty object.
 */
function sizeIn({ statusCode, headers }: ResponseHead): number | undefined {
  const length = contentLength(headers);
  if (statusCode === 200) return length ?? Number.NaN;
  if (statusCode === 206 && length === 0) return 0;
  return statusCode === 416 ? objectSize(headers) : undefined;
}

/** Returns the size of an object from the response to a request for its first byte, `NaN` if it stays unknown. */
async function sizeByFirstByte({ response }: OpenResponse): Promise<number> {
  const size = sizeIn(response);
  if (response.statusCode === 416) return size ?? Number.NaN;
  return size ?? partOf(response).version.size;
}

async function readTail(
  { response, download, request, keep }: OpenResponse,
  length: number,
  keepsConnection: boolean,
): Promise<ObjectTail> {
  const { start, end, version } = partOf(response);
  if (end !== version.size || end - start > length) {
    const found = `bytes ${start}-${end - 1} of ${version.size}`;
    throw new RequestFailure(`expected the last ${length} bytes, found ${found}`, true);
  }
  const bytes = sharedBytes(end - start);
  await download.fill(bytes);
  return { request, version, bytes, client: keepsConnection ? keep() : undefined };
}

/** Allocates memory that threads can share. */
function sharedBytes(length: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(new SharedArrayBuffer(length));
}

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

  /** Returns bytes of a version of the object, or `"coming"` until they arrive; undefined if they will not arrive. */
  part(object: ObjectVersion, start: number, end: number): Uint8Array | "coming" | undefined {
    if (end > this.bytes.byteLength) return undefined;
    if (this.#version !== undefined && !isSame(this.#version, object)) return undefined;
    if (this.#filled >= end) return new Uint8Array(this.bytes, start, end - start);
    return this.#isDone ? undefined : "coming";
  }

  /** Waits for the request to end, and returns how many bytes of a version of the object were received. */
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
      await download.body((part) => {
        const room = bytes.length - this.#filled;
        bytes.set(part.subarray(0, room), this.#filled);
        this.#filled += Math.min(part.length, room);
        if (part.length > room) download.cancel();
      });
    });
  }
}
