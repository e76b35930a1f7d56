import type { IncomingHttpHeaders } from "node:http";
import type { ByteRange } from "../format/byte-ranges.js";

import { RequestFailure, type ResponseHead, responseFailure } from "./failure.js";

/** What identifies the version of an object while it is read. Plain values, which threads can share. */
export interface ObjectVersion {
  /** The size of the object, in bytes. */
  readonly size: number;
  /** Its `ETag`, if the server sends one. */
  readonly etag: string | undefined;
  /** Its `Last-Modified`, if the server sends one. */
  readonly lastModified: string | undefined;
}

/** The range of a partial response, and the version of the object that it belongs to. */
interface ResponsePart extends ByteRange {
  readonly version: ObjectVersion;
}

/** A date in the format of HTTP. No other value is sent back to the server. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Makes HTTP caches refetch bytes, which they may have stored damaged. */
export const NO_CACHE: Readonly<Record<string, string>> = { "cache-control": "no-cache" };

/** Returns the headers of a request for a range. With a version, the server refuses to send any other. */
export function rangeHeaders(
  { start, end }: ByteRange,
  version: ObjectVersion | undefined,
): Readonly<Record<string, string>> {
  return { range: `bytes=${start}-${end - 1}`, ...(version && preconditionOf(version)) };
}

/** Returns the precondition that only this version of the object meets. */
function preconditionOf({ etag, lastModified = "" }: ObjectVersion): Record<string, string> {
  const strong = strongEtag(etag);
  if (strong !== undefined) return { "if-match": strong };
  return HTTP_DATE.test(lastModified) ? { "if-unmodified-since": lastModified } : {};
}

/**
 * Returns the range that a response holds, and the version of its object.
 *
 * @throws {RequestFailure}
 */
export function partOf(response: ResponseHead): ResponsePart {
  const { statusCode, headers } = response;
  // Of several servers behind one name, some may not support ranges: the next attempt may reach another.
  if (statusCode === 200) {
    throw new RequestFailure("the server ignored the range (HTTP 200)", true, { status: 200 });
  }
  if (statusCode !== 206) throw responseFailure(response);
  const range = /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16})$/i.exec(headers["content-range"] ?? "");
  if (range === null) {
    throw new RequestFailure("expected a Content-Range with the size of the object", true);
  }
  const [first = 0, last = 0, size = 0] = range.slice(1).map(Number);
  if (first > last || last >= size) {
    throw new RequestFailure(
      `expected a range of the object, found ${first}-${last}/${size}`,
      true,
    );
  }
  return { start: first, end: last + 1, version: versionOf(size, headers) };
}

/**
 * Checks that a response holds the requested range of the expected version.
 *
 * @throws {RequestFailure}
 */
export function checkPart(
  response: ResponseHead,
  requested: ByteRange,
  version: ObjectVersion,
): void {
  const { statusCode, headers } = response;
  if (statusCode === 412) throw changed("its ETag or its date differs", 412);
  if (statusCode === 200) {
    checkSame(version, versionOf(contentLength(headers) ?? version.size, headers));
  }
  const size = objectSize(headers);
  if (statusCode === 416 && size !== undefined) checkSame(version, versionOf(size, headers));
  const part = partOf(response);
  checkSame(version, part.version);
  if (part.start === requested.start && part.end === requested.end) return;
  const found = `${part.start}-${part.end - 1}`;
  const message = `expected bytes ${requested.start}-${requested.end - 1}, found ${found}`;
  throw new RequestFailure(message, true);
}

/**
 * Returns whether two responses belong to the same version, as far as their headers tell. A weak ETag may stay
 * the same when bytes change, so the dates must match, too.
 */
export function isSame(one: ObjectVersion, other: ObjectVersion): boolean {
  return one.size === other.size && difference(one, other) === undefined;
}

/** Describes what differs between two versions of the same size. */
function difference(one: ObjectVersion, other: ObjectVersion): string | undefined {
  const haveEtags = one.etag !== undefined && other.etag !== undefined;
  if (haveEtags && one.etag !== other.etag) return "its ETag differs";
  if (haveEtags && strongEtag(one.etag) !== undefined) return undefined;
  const haveDates = one.lastModified !== undefined && other.lastModified !== undefined;
  return haveDates && one.lastModified !== other.lastModified ? "its date differs" : undefined;
}

/**
 * Checks that an object is still the same version. The message repeats no header: a server may send anything.
 *
 * @throws {RequestFailure}
 */
function checkSame(expected: ObjectVersion, found: ObjectVersion): void {
  if (found.size !== expected.size) {
    throw changed(`expected ${expected.size} bytes, found ${found.size}`);
  }
  const what = difference(expected, found);
  if (what !== undefined) throw changed(what);
}

/** Returns the size of the object that a 416 response reports. */
export function objectSize(headers: IncomingHttpHeaders): number | undefined {
  const [, size] = /^bytes \*\/(\d{1,16})$/i.exec(headers["content-range"] ?? "") ?? [];
  return size === undefined ? undefined : Number(size);
}

/** Returns the length of a response, if it reports one. */
export function contentLength(headers: IncomingHttpHeaders): number | undefined {
  const length = headers["content-length"] ?? "";
  return /^\d{1,16}$/.test(length) ? Number(length) : undefined;
}

export function versionOf(
  size: number,
  { etag, "last-modified": lastModified }: IncomingHttpHeaders,
): ObjectVersion {
  return { size, etag, lastModified };
}

/** Returns an ETag if it is a strong one. */
export function strongEtag(etag: string | undefined): string | undefined {
  return etag?.startsWith('"') ? etag : undefined;
}

function changed(message: string, status?: number): RequestFailure {
  const details = { isChange: true, status };
  const answer = status === undefined ? "" : ` (HTTP ${status})`;
  const text = `the object changed while it was read: ${message}${answer}`;
  return new RequestFailure(text, false, details);
}
