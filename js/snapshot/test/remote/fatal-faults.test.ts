/** Faults of servers and networks that end a restore with an error. */
import { restoreSnapshot, type SnapshotErrorCode, type Timeouts } from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import type { Faults } from "../../../../tests/origin/fault.mjs";
import { noise } from "../../../../tests/support/snapshots/image.js";
import {
  all,
  EARLIER,
  file,
  inMilliseconds,
  LATER,
  OPTIONS,
  other,
  path,
  restore,
  restored,
  serve,
} from "../support/faulty.js";
import { refusalOf } from "../support/refusal.js";
import { expectNothingLeft, faultsOf, isPart, isTail, originOf } from "../support/remote.js";

/** A fault, and the error that it causes. */
interface FatalFault {
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

/** The end of the message after the retries of `OPTIONS`. */
const OFTEN = "(4 times in a row)";

const fatal: Record<string, FatalFault> = {
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
    faults: () => faultsOf(isTail, { stallAfter: 9 }),
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

test.each(Object.entries(fatal))("reports %s, and leaves no files", async (_, expected) => {
  const origin = await serve({ faults: expected.faults() });
  const { timeouts, workers = OPTIONS.workers } = expected;
  const error = await restore(origin, { timeouts, workers });
  expect(error).toMatchObject({ code: expected.code ?? "ERR_SOURCE", status: expected.status });
  expect(error?.message).toMatch(expected.message ?? /./);
  if (expected.cause !== undefined) expect(error).toMatchObject({ cause: expected.cause });
  expect(origin.requestCount).toBeLessThanOrEqual(expected.maxRequests ?? 60);
});

const objects: Record<string, () => Buffer> = {
  "an empty object": () => Buffer.alloc(0),
  "one byte": () => Buffer.alloc(1),
  noise: () => noise("none", 100_000),
  "a page": () => Buffer.from("<!doctype html>".repeat(10_000)),
  "a truncated snapshot": () => file.subarray(0, -1),
  "a snapshot with a flipped bit in its tail": () => {
    const damaged = Buffer.from(file);
    damaged[damaged.length - 1000]! ^= 1;
    return damaged;
  },
  "the first half of a snapshot": () => file.subarray(0, file.length >> 1),
  "the last half of a snapshot": () => file.subarray(file.length >> 1),
};

test.each(Object.entries(objects))(
  "refuses an object that is no snapshot: %s",
  async (_, bytes) => {
    const origin = await originOf({ "/a.vhs": bytes() });
    expect(await restore(origin)).toMatchObject({ code: "ERR_SNAPSHOT_FORMAT" });
    expect(origin.requestCount).toBeLessThanOrEqual(4);
  },
);

test("reports a refused connection, and leaves no files", async () => {
  const origin = await serve();
  await origin.close();
  const error = await restore(origin);
  expect(error).toMatchObject({ code: "ERR_SOURCE", cause: { code: "ECONNREFUSED" } });
  expect(error?.message).toContain(OFTEN);
});

test("reports a host that does not exist, and leaves no files", async () => {
  // An invalid name fails at once, without a query to a name server.
  const restoring = restoreSnapshot("http://nobody..invalid/a.vhs?secret", restored, OPTIONS);
  const error = await refusalOf(restoring, "ERR_SOURCE");
  expect(error.cause).toMatchObject({ code: "ENOTFOUND" });
  expect(error.message).toContain("http://nobody..invalid/a.vhs:");
  await expectNothingLeft(path());
});
