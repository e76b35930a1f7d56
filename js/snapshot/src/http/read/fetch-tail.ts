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
  const fetchRange = (range: string) =>
    get(request, { range }, transfer, signal, async (open): Promise<ObjectTail | number> => {
      const { statusCode, headers } = open.response;
      // Some servers do not support suffix ranges, but their responses tell the size.
      if (statusCode === 200) return contentLength(headers) ?? Number.NaN;
      const size = statusCode === 416 ? objectSize(headers) : undefined;
      return size ?? readTail(open, length, keepsConnection);
    });
  const found = await fetchRange(`bytes=-${length}`);
  if (typeof found !== "number") return found;
  if (found === 0) return { request, version: versionOf(0, {}), bytes: sharedBytes(0) };
  if (Number.isNaN(found)) return undefined;
  const tail = await fetchRange(`bytes=${Math.max(0, found - length)}-${found - 1}`);
  return typeof tail === "number" ? undefined : tail;
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
