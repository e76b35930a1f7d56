import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

import { Failure, refused } from "../failure.js";

/** What tells an object from what may take its place while it is read. Plain values: threads share it. */
export interface ObjectVersion {
  /** The size of the object, in bytes. */
  readonly size: number;
  /** The server's name for this very content, if it has one. */
  readonly etag: string | undefined;
  /** When it was changed last, as the server says, if it does. */
  readonly lastModified: string | undefined;
}

/** Bytes of an object: [start, end). */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** What an answer with a part of an object says of itself. */
export interface Part extends ByteRange {
  readonly version: ObjectVersion;
}

/** A date as HTTP has it. A server may answer anything else, which is not sent back. */
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** What a request for bytes carries, so that a server refuses those of another object. */
export function rangeHeaders(
  { start, end }: ByteRange,
  version: ObjectVersion | undefined,
): Readonly<Record<string, string>> {
  return { range: `bytes=${start}-${end - 1}`, ...(version && conditionOf(version)) };
}

/** The condition on which a server answers with bytes of the object that is pinned. */
function conditionOf({ etag, lastModified = "" }: ObjectVersion): Readonly<Record<string, string>> {
  const strong = strongEtag(etag);
  if (strong !== undefined) return { "if-match": strong };
  return DATE.test(lastModified) ? { "if-unmodified-since": lastModified } : {};
}

/**
 * What part of which object an answer brings.
 *
 * @throws {Failure}
 */
export function partOf(response: IncomingMessage): Part {
  const { statusCode, headers } = response;
  // Of several servers behind one name, one may have no ranges: the next one may have some.
  if (statusCode === 200) {
    throw new Failure("the server answered 200: no part", true, { status: 200 });
  }
  if (statusCode !== 206) throw refused(response);
  const range = /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16})$/i.exec(headers["content-range"] ?? "");
  if (range === null) throw new Failure("expected an answer that says which bytes it has", true);
  const [first = 0, last = 0, size = 0] = range.slice(1).map(Number);
  if (first > last || last >= size) {
    throw new Failure(`expected bytes of the object, found ${first}-${last} of ${size}`, true);
  }
  return { start: first, end: last + 1, version: pinOf(size, headers) };
}

/**
 * Checks that an answer brings those bytes, and that they are of the object that is pinned.
 *
 * @throws {Failure}
 */
export function checkPart(
  response: IncomingMessage,
  wanted: ByteRange,
  version: ObjectVersion,
): void {
  const { statusCode, headers } = response;
  if (statusCode === 412) throw changed("it has another ETag, or a later date", 412);
  if (statusCode === 200) checkSame(version, pinOf(lengthOf(headers) ?? version.size, headers));
  const size = sizeOf(headers);
  if (statusCode === 416 && size !== undefined) checkSame(version, pinOf(size, headers));
  const part = partOf(response);
  checkSame(version, part.version);
  if (part.start === wanted.start && part.end === wanted.end) return;
  const [expected, found] = [wanted, part].map(({ start, end }) => `${start}-${end - 1}`);
  throw new Failure(`expected the bytes ${expected}, found ${found}`, true);
}

/**
 * Whether two answers are of the same object, as far as they tell. A weak ETag may stay when bytes change: then
 * the date counts as well.
 */
export function isSame(one: ObjectVersion, other: ObjectVersion): boolean {
  return one.size === other.size && difference(one, other) === undefined;
}

/** What tells two objects of the same size apart. */
function difference(one: ObjectVersion, other: ObjectVersion): string | undefined {
  const hasTags = one.etag !== undefined && other.etag !== undefined;
  if (hasTags && one.etag !== other.etag) return "it has another ETag";
  if (hasTags && strongEtag(one.etag) !== undefined) return undefined;
  const hasDates = one.lastModified !== undefined && other.lastModified !== undefined;
  return hasDates && one.lastModified !== other.lastModified ? "it has another date" : undefined;
}

/**
 * Checks that an object is the same. What a server says of it is not told: it may be anything.
 *
 * @throws {Failure}
 */
function checkSame(expected: ObjectVersion, found: ObjectVersion): void {
  if (found.size !== expected.size) {
    throw changed(`expected ${expected.size} bytes, found ${found.size}`);
  }
  const what = difference(expected, found);
  if (what !== undefined) throw changed(what);
}

/** How long an object is that has no such part, as an answer says. */
export function sizeOf(headers: IncomingHttpHeaders): number | undefined {
  const [, size] = /^bytes \*\/(\d{1,16})$/i.exec(headers["content-range"] ?? "") ?? [];
  return size === undefined ? undefined : Number(size);
}

/** How long an answer is, if it says so. */
export function lengthOf(headers: IncomingHttpHeaders): number | undefined {
  const length = headers["content-length"] ?? "";
  return /^\d{1,16}$/.test(length) ? Number(length) : undefined;
}

export function pinOf(
  size: number,
  { etag, "last-modified": lastModified }: IncomingHttpHeaders,
): ObjectVersion {
  return { size, etag, lastModified };
}

/** An ETag that stands for every byte, or undefined. */
export function strongEtag(etag: string | undefined): string | undefined {
  return etag?.startsWith('"') ? etag : undefined;
}

function changed(message: string, status?: number): Failure {
  const details = { isChange: true, ...(status === undefined ? {} : { status }) };
  return new Failure(`it changed while it was read: ${message}`, false, details);
}
