/** Faults of servers and networks, for restores from them. */
import type { SnapshotErrorCode, Timeouts } from "@hedgerow/snapshot";

import type { Faults } from "../../../../tests/origin/fault.mjs";
import { all, EARLIER, inMilliseconds, LATER, onceEach, other } from "./faulty.js";
import { faultsOf, isPart, isTail } from "./remote.js";

/** Faults from which a restore recovers. */
export const recoverable: Record<string, () => Faults> = {
  "a rate limit": () => faultsOf(isPart, { bytesPerSecond: 2_000_000 }),
  "late first bytes": () => faultsOf(all, { firstByte: 100 }),
  "a late tail": () => faultsOf(isTail, { firstByte: 200 }),
  "connections that are closed": () => onceEach(all, { cutAfter: 50_000 }),
  "connections that are closed at once": () => onceEach(all, { cutAfter: 0 }),
  "connections that are reset": () => onceEach(all, { cutAfter: 50_000, reset: true }),
  "too many bytes": () => onceEach(all, { extraBytes: 1000 }),
  "too few bytes": () => onceEach(all, { extraBytes: -1000 }),
  "no Content-Range": () => onceEach(all, { contentRange: "none" }),
  "ranges that are ignored once": () => onceEach(isPart, { ignoreRange: true }),
  "a suffix range that is ignored": () => faultsOf(isTail, { ignoreRange: true }, 1),
  "a bit that is flipped once": () => faultsOf(isPart, { flipBit: 20_000 }, 1),
  "bits that are flipped once each": () => onceEach(isPart, { flipBit: 20_000 }),
  "a bit of the tail that is flipped once": () => faultsOf(isTail, { flipBit: 2 ** 19 - 9 }, 1),
  "a busy server": () => onceEach(all, { status: 503 }),
  "a server that asks for a pause of one second before the tail": () =>
    faultsOf(isTail, { status: 429, retryAfter: 1 }, 1),
  "a server that asks to wait until a date": () =>
    faultsOf(isPart, () => ({ status: 429, retryAfter: inMilliseconds(1500) }), 1),
  "an encoding that leaves bytes as they are": () =>
    faultsOf(all, { encoding: "aws-chunked, identity" }),
  "no ETags": () => faultsOf(all, { etag: null }),
  "weak ETags": () => faultsOf(all, { etag: 'W/"weak"' }),
  "an ETag that disappears": () => faultsOf(isPart, { etag: null, ignoreIfMatch: true }),
};

/** Faults after which nothing is sent. Only their tests use short timeouts, which no other fault may exceed. */
export const silent: Record<string, () => Faults> = {
  "stalls near the end of a range": () => onceEach(isPart, { stallAfter: 200_000 }),
  "a stall of the tail": () => faultsOf(isTail, { stallAfter: 100 }, 1),
  "no responses": () => onceEach(isPart, { noAnswer: true }),
  "no response for the tail": () => faultsOf(isTail, { noAnswer: true }, 1),
};

/** A fault, and the error that it causes. */
export interface FatalFault {
  readonly faults: () => Faults;
  /** Short timeouts. */
  readonly timeouts?: Timeouts;
  readonly code?: SnapshotErrorCode;
  readonly status?: number;
  readonly cause?: object;
  readonly message?: RegExp;
  readonly maxRequests?: number;
  /** Pass 2 where the error of one worker must end the other. */
  readonly workers?: number;
}

/** Faults that end a restore. */
export const fatal: Record<string, FatalFault> = {
  "a failing server": {
    faults: () => faultsOf(all, { status: 500 }),
    ...{ status: 500, message: /HTTP 500\) \(4 times/, maxRequests: 5 },
  },
  "a server that fails after the tail": {
    faults: () => faultsOf(isPart, { status: 500 }),
    ...{
      workers: 2,
      status: 500,
      message: /cannot read bytes \d+-\d+ of .* \(HTTP 500\) \(4 times/,
    },
  },
  "compressed responses": {
    faults: () => faultsOf(all, { encoding: "gzip" }),
    ...{ message: /encoded as gzip, which was not asked for/, maxRequests: 2 },
  },
  "compressed ranges": {
    faults: () => faultsOf(isPart, { encoding: "<secret>" }),
    message: /cannot read bytes \d+-\d+ of .* encoded as another format/,
  },
  "a busy server": { faults: () => faultsOf(isPart, { status: 503 }), status: 503 },
  "a server that asks for more than a minute": {
    faults: () => faultsOf(isTail, { status: 503, retryAfter: 61 }),
    ...{ status: 503, maxRequests: 2 },
  },
  "a server that asks for more than a minute after the tail": {
    faults: () => faultsOf(isPart, { status: 429, retryAfter: 61 }),
    ...{ status: 429 },
  },
  "a server that asks to wait until a distant date": {
    faults: () => faultsOf(isTail, () => ({ status: 429, retryAfter: inMilliseconds(75_000) })),
    ...{ status: 429, maxRequests: 2 },
  },
  "access that is denied": {
    faults: () => faultsOf(all, { status: 403 }),
    ...{ status: 403, message: /access denied/, maxRequests: 2 },
  },
  "access that is denied after the tail": {
    faults: () => faultsOf(isPart, { status: 403 }),
    ...{ workers: 2, status: 403 },
  },
  "a missing object": {
    faults: () => faultsOf(all, { status: 404 }),
    ...{ status: 404, message: /no such object/, maxRequests: 2 },
  },
  "an object that is gone after the tail": {
    faults: () => faultsOf(isPart, { status: 410 }),
    status: 410,
  },
  "connections that are closed": {
    faults: () => faultsOf(all, { cutAfter: 0 }),
    message: /the connection was closed \(4 times/,
  },
  "connections that are closed after the tail": {
    faults: () => faultsOf(isPart, { cutAfter: 0 }),
    message: /the connection was closed \(4 times/,
  },
  "a few bytes over each connection": {
    faults: () => faultsOf(isPart, { cutAfter: 100 }),
    message: /the connection was closed \(4 times/,
  },
  "connections that are reset": {
    faults: () => faultsOf(isPart, { cutAfter: 0, reset: true }),
    workers: 2,
    cause: { code: "ECONNRESET" },
  },
  "stalls without any bytes": {
    faults: () => faultsOf(isPart, { stallAfter: 0 }),
    timeouts: { stall: 300 },
    message: /no progress within 300 ms \(4 times/,
  },
  "stalls of the tail": {
    faults: () => faultsOf(isTail, { stallAfter: 0 }),
    timeouts: { stall: 300 },
    message: /no progress within 300 ms \(4 times/,
  },
  "no response": {
    faults: () => faultsOf(all, { noAnswer: true }),
    timeouts: { firstByte: 300 },
    message: /no response within 300 ms/,
  },
  "no response after the tail": {
    faults: () => faultsOf(isPart, { noAnswer: true }),
    workers: 2,
    timeouts: { firstByte: 300 },
    message: /no response within 300 ms/,
  },
  "too few bytes": { faults: () => faultsOf(isTail, { extraBytes: -1 }) },
  "no Content-Range": {
    faults: () => faultsOf(isPart, { contentRange: "none" }),
    message: /expected a Content-Range .* \(4 times/,
  },
  "ranges that are ignored after the tail": {
    faults: () => faultsOf(isPart, { ignoreRange: true }),
    ...{ status: 200, message: /ignored the range \(HTTP 200\)/ },
  },
  "a range that is shifted, of a file that is longer": {
    faults: () => faultsOf(isPart, { contentRange: "shifted" }),
    code: "ERR_SOURCE_CHANGED",
  },
  "a file that is longer": {
    faults: () => faultsOf(isPart, { contentRange: "wrong total" }),
    code: "ERR_SOURCE_CHANGED",
  },
  "another ETag": {
    faults: () => faultsOf(isPart, { etag: '"another"' }),
    ...{ code: "ERR_SOURCE_CHANGED", status: 412 },
  },
  "another ETag, of a server that ignores If-Match": {
    faults: () => faultsOf(isPart, { etag: '"another"', ignoreIfMatch: true }),
    code: "ERR_SOURCE_CHANGED",
  },
  "another weak ETag": {
    faults: () => (request) => ({ etag: isPart(request) ? 'W/"2"' : 'W/"1"' }),
    code: "ERR_SOURCE_CHANGED",
  },
  "another file": {
    faults: () => faultsOf(isPart, () => ({ content: other, etag: '"another"' })),
    ...{ workers: 2, code: "ERR_SOURCE_CHANGED", status: 412 },
  },
  "another file, of a server that ignores If-Match": {
    faults: () =>
      faultsOf(isPart, () => ({ content: other, etag: '"another"', ignoreIfMatch: true })),
    code: "ERR_SOURCE_CHANGED",
  },
  "another file, of a server without ETags": {
    faults: () => (request) => ({ etag: null, ...(isPart(request) && { content: other }) }),
    code: "ERR_SNAPSHOT_FORMAT",
  },
  "another file from the second request on, of a server without ETags": {
    faults: () => (request) => ({ etag: null, ...(!isTail(request) && { content: other }) }),
    code: "ERR_SNAPSHOT_FORMAT",
  },
  "another date, of a server without ETags": {
    faults: () => (request) => ({ etag: null, lastModified: isPart(request) ? LATER : EARLIER }),
    ...{ code: "ERR_SOURCE_CHANGED", status: 412 },
  },
  "another date, of a server without ETags that ignores If-Unmodified-Since": {
    faults: () => (request) => ({
      ...{ etag: null, ignoreIfMatch: true, lastModified: isPart(request) ? LATER : EARLIER },
    }),
    code: "ERR_SOURCE_CHANGED",
  },
  "an earlier date, of a server without ETags": {
    faults: () => (request) => ({ etag: null, lastModified: isPart(request) ? EARLIER : LATER }),
    code: "ERR_SOURCE_CHANGED",
  },
  "another date, of a server with weak ETags": {
    faults: () => (request) => ({
      ...{ etag: 'W/"1"', ignoreIfMatch: true, lastModified: isPart(request) ? LATER : EARLIER },
    }),
    code: "ERR_SOURCE_CHANGED",
  },
  "a bit that is flipped every time": {
    faults: () => faultsOf(isPart, { flipBit: 20_000 }),
    workers: 2,
    code: "ERR_SNAPSHOT_FORMAT",
  },
};
