import type { IncomingMessage } from "node:http";

import type { Transfer } from "../../options/transfer-options.js";
import { RequestFailure } from "../request-failure.js";
import type { ServerRequest } from "../server-request.js";
import type { HttpClient } from "./client.js";
import { get, type OpenResponse } from "./get.js";
import {
  contentLength,
  type ObjectVersion,
  objectSize,
  partOf,
  versionOf,
} from "./object-version.js";

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
  const found = await fetch(`bytes=-${length}`, async (open): Promise<ObjectTail | number> => {
    const { statusCode } = open.response;
    const size = sizeIn(open.response);
    if (size !== undefined) return size;
    // The first byte tells the size, too, or why requests are refused.
    if (REFUSED_SUFFIX.has(statusCode)) return fetch("bytes=0-0", sizeByFirstByte);
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
 * Returns the size of an object if a response tells it without bytes of a range, NaN if that stays unknown. A partial
 * response without bytes, which some servers send, is that of an empty object.
 */
function sizeIn({ statusCode, headers }: IncomingMessage): number | undefined {
  const length = contentLength(headers);
  if (statusCode === 200) return length ?? Number.NaN;
  if (statusCode === 206 && length === 0) return 0;
  return statusCode === 416 ? objectSize(headers) : undefined;
}

/** Returns the size of an object from the response to a request for its first byte, NaN if that stays unknown. */
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
  await download.fill(response, bytes);
  return { request, version, bytes, client: keepsConnection ? keep() : undefined };
}

/** Allocates memory that threads can share. */
function sharedBytes(length: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(new SharedArrayBuffer(length));
}
