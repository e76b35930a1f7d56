/** Servers and networks that misbehave, each in one way. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createSnapshot,
  type Progress,
  type RestoreOptions,
  restoreSnapshot,
  SnapshotError,
  type SnapshotErrorCode,
  type Timeouts,
} from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";

import type { Fault, FaultRequest, Faults } from "../../../../tests/origin/fault.mjs";
import type { Origin, OriginOptions } from "../../../../tests/origin/origin.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, letters, noise } from "../../../../tests/support/snapshots/image.js";
import { allToldBy } from "../support/emitted.js";
import { refusalOf } from "../support/refusal.js";
import {
  expectNothingLeft,
  faultsOf,
  isHead,
  isPart,
  isTail,
  originOf,
  SOON,
} from "../support/remote.js";

const MIB = 2 ** 20;

const path = temporaryFolder();
const [snapshot, restored] = [path("image.vhs"), path("restored")];

/** Data, a hole, and data, in frames of which each range has some. */
const image = Buffer.concat([
  noise("first", 2 * MIB),
  Buffer.alloc(MIB),
  letters("last", MIB + 17),
]);

/** Little is asked for at a time. */
const OPTIONS = { workers: 2, connections: 3, partSize: 2 ** 18, retries: 3 };

let [file, other] = [Buffer.alloc(0), Buffer.alloc(0)];

beforeAll(async () => {
  const make = async (bytes: Buffer) => {
    writeFileSync(path("image"), bytes);
    await createSnapshot(path("image"), snapshot, { pieceSize: 2 ** 16 });
    return readFileSync(snapshot);
  };
  file = await make(image);
  // As long as the other, and of other bytes everywhere.
  other = await make(Buffer.concat([noise("other", 2 * MIB), image.subarray(2 * MIB)]));
  expect(other).toHaveLength(file.length);
});

const all = () => true;

/** What is secret in the URL, and must not be told. */
const SECRET = "b4c1e0d2";

/** Restores what an origin has. Returns the error, if it was one of this package, or else undefined. */
async function restore(
  origin: Origin,
  options: RestoreOptions = {},
): Promise<SnapshotError | undefined> {
  const url = origin.url(`/a.vhs?token=${SECRET}`);
  url.username = url.password = SECRET;
  try {
    await restoreSnapshot(url, restored, { ...OPTIONS, overwrite: false, ...options });
    expectSame(readFileSync(restored), image);
    return undefined;
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    expect(existsSync(restored), "a part of the image").toBe(false);
    expect(error.message).toContain(origin.url("/a.vhs").href);
    expect(allToldBy(error)).not.toContain(SECRET);
    return error;
  } finally {
    await expectNothingLeft(path(), origin);
    rmSync(restored, { force: true });
  }
}

const serve = (options: Omit<OriginOptions, "files"> = {}) => originOf({ "/a.vhs": file }, options);

/** A fault of the first answer to each range. */
function onceEach(which: (request: FaultRequest) => boolean, fault: Fault): Faults {
  const seen = new Set<string>();
  return (request) => {
    const { range = "" } = request.headers;
    if (seen.has(range) || !which(request)) return undefined;
    seen.add(range);
    return fault;
  };
}

/** Dates of HTTP at which a file may have been changed. */
const [EARLIER, LATER] = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT"];

/** A date of HTTP, so many milliseconds from now. */
const inMilliseconds = (count: number) => new Date(Date.now() + count).toUTCString();

const mended: Record<string, () => Faults> = {
  "a rate limit": () => faultsOf(isPart, { bytesPerSecond: 2_000_000 }),
  "late first bytes": () => faultsOf(all, { firstByte: 100 }),
  "a late end": () => faultsOf(isTail, { firstByte: 200 }),
  "connections that are closed": () => onceEach(all, { cutAfter: 50_000 }),
  "connections that are closed at once": () => onceEach(all, { cutAfter: 0 }),
  "connections that are reset": () => onceEach(all, { cutAfter: 50_000, reset: true }),
  "too many bytes": () => onceEach(all, { extraBytes: 1000 }),
  "too few bytes": () => onceEach(all, { extraBytes: -1000 }),
  "no Content-Range": () => onceEach(all, { contentRange: "none" }),
  "ranges that are ignored once": () => onceEach(isPart, { ignoreRange: true }),
  "an end that is ignored to be one": () => faultsOf(isTail, { ignoreRange: true }, 1),
  "a bit that is flipped once": () => faultsOf(isPart, { flipBit: 20_000 }, 1),
  "bits that are flipped once each": () => onceEach(isPart, { flipBit: 20_000 }),
  "a bit of the end that is flipped once": () => faultsOf(isTail, { flipBit: 2 ** 19 - 9 }, 1),
  "errors of the server": () => onceEach(all, { status: 500 }),
  "a server that is busy": () => onceEach(all, { status: 503 }),
  "a server that asks for a second": () => faultsOf(isPart, { status: 503, retryAfter: 1 }, 2),
  "a server that asks for a second for the end": () =>
    faultsOf(isTail, { status: 429, retryAfter: 1 }, 1),
  "a server that asks to wait until a time": () =>
    faultsOf(isPart, () => ({ status: 429, retryAfter: inMilliseconds(1500) }), 1),
  "too many requests": () => onceEach(isPart, { status: 429 }),
  "no ETags": () => faultsOf(all, { etag: null }),
  "weak ETags": () => faultsOf(all, { etag: 'W/"weak"' }),
  "an ETag that is gone": () => faultsOf(isPart, { etag: null, ignoreIfMatch: true }),
};

/** Those after which nothing comes. Only these are given up soon: others must never be given up for it. */
const silent: Record<string, () => Faults> = {
  "stalls, after which little is missing": () => onceEach(isPart, { stallAfter: 200_000 }),
  "a stall of the end": () => faultsOf(isTail, { stallAfter: 100 }, 1),
  "no answers": () => onceEach(isPart, { noAnswer: true }),
  "no answer for the end": () => faultsOf(isTail, { noAnswer: true }, 1),
};

test.each([
  ...Object.entries(mended).map(([name, make]) => ({ name, make, timeouts: {} })),
  ...Object.entries(silent).map(([name, make]) => ({ name, make, timeouts: SOON })),
])("$name: all bytes are right", async ({ make, timeouts }) => {
  const origin = await serve({ faults: make() });
  expect(await restore(origin, { timeouts })).toBe(undefined);
  expect(origin.requestCount).toBeLessThan(100);
});

/** The beginning is asked for together with the end, unless the connections are counted. */
test.each([
  ["late", { firstByte: 250 }, {}],
  ["ignored to be one", { ignoreRange: true }, {}],
  ["cut off", { cutAfter: 50_000 }, {}],
  ["damaged", { flipBit: 80_000 }, {}],
  ["refused", { status: 500 }, {}],
  ["stalled", { stallAfter: 100 }, SOON],
  ["not answered", { noAnswer: true }, SOON],
] as const)("a beginning that is %s: all bytes are right", async (_, fault, timeouts) => {
  const origin = await serve({ faults: faultsOf(isHead, fault, 1) });
  expect(await restore(origin, { connections: undefined, timeouts })).toBe(undefined);
  expect(origin.requests.some(isHead)).toBe(true);
  expect(origin.requestCount).toBeLessThan(100);
});

test.each([
  ["no ETag", { etag: null, lastModified: EARLIER }, EARLIER, undefined],
  ["a weak ETag", { etag: 'W/"1"', lastModified: EARLIER }, EARLIER, undefined],
  ["a strong ETag", { etag: '"1"', lastModified: EARLIER }, undefined, '"1"'],
  ["no ETag and no date of HTTP", { etag: null, lastModified: "today" }, undefined, undefined],
])(
  "ranges of a file with %s are asked for as what it was at first",
  async (_, fault, date, tag) => {
    const origin = await serve({ faults: faultsOf(all, fault) });
    expect(await restore(origin)).toBe(undefined);
    const parts = origin.requests.filter(isPart);
    expect(parts).not.toHaveLength(0);
    for (const { headers } of parts) {
      expect([headers["if-unmodified-since"], headers["if-match"]]).toEqual([date, tag]);
    }
  },
);

test("a server whose dates differ, and whose strong ETag is the same, has one file", async () => {
  const faults: Faults = (request) => ({ lastModified: isPart(request) ? LATER : EARLIER });
  expect(await restore(await serve({ faults }))).toBe(undefined);
});

test("a beginning of another date than the end is asked for again", async () => {
  const faults: Faults = (request) => ({
    ...{ etag: null, lastModified: LATER },
    ...(isHead(request) && request.headers["if-unmodified-since"] === undefined
      ? { content: other, lastModified: EARLIER }
      : {}),
  });
  const origin = await serve({ faults });
  let transferred = 0;
  const onProgress = ({ transferredBytes }: Progress) => {
    transferred = transferredBytes;
  };
  expect(await restore(origin, { connections: undefined, onProgress })).toBe(undefined);
  // It is of another file: none of it counts.
  expect(transferred).toBeLessThan(file.length + OPTIONS.partSize / 2);
});

test("a server that asks to wait is asked when it says, and not before", async () => {
  const faults = faultsOf(isPart, { status: 503, retryAfter: 1 }, 1);
  const origin = await serve({ faults });
  expect(await restore(origin, { connections: 1 })).toBe(undefined);
  const refused = origin.requests.findIndex(({ status }) => status === 503);
  const [first, next] = origin.requests.slice(refused);
  expect(next!.headers.range).toBe(first!.headers.range);
  expect(next!.begin - first!.begin).toBeGreaterThanOrEqual(990);
});

test("connections that are refused for a while: all bytes are right", async () => {
  const origin = await serve({ conditions: { bytesPerSecond: 2_000_000 } });
  const url = origin.url("/a.vhs");
  const restoring = restoreSnapshot(url, restored, { ...OPTIONS, connections: 1, retries: 20 });
  const isBegun = () => origin.requests.some((request) => isPart(request) && request.bytesSent > 0);
  while (!isBegun()) await sleep(5);
  await origin.refuse(300);
  await restoring;
  expectSame(readFileSync(restored), image);
  await expectNothingLeft(path(), origin);
  rmSync(restored);
});

interface Refused {
  readonly faults: () => Faults;
  /** What is not waited for long. */
  readonly timeouts?: Timeouts;
  readonly code?: SnapshotErrorCode;
  readonly status?: number;
  readonly cause?: object;
  readonly says?: RegExp;
  /** The most requests that there are for it. */
  readonly requests?: number;
}

/** As often as `OPTIONS` say, and once more. */
const often = "(4 times in a row)";

const ends: Record<string, Refused> = {
  "errors of the server": {
    faults: () => faultsOf(all, { status: 500 }),
    ...{ status: 500, says: /HTTP 500\) \(4 times/, requests: 5 },
  },
  "errors of the server in the midst": {
    faults: () => faultsOf(isPart, { status: 500 }),
    ...{ status: 500, says: /cannot read bytes \d+-\d+ of .* \(HTTP 500\) \(4 times/ },
  },
  "a server that is busy": { faults: () => faultsOf(isPart, { status: 503 }), status: 503 },
  "a server that asks for more than a minute": {
    faults: () => faultsOf(isTail, { status: 503, retryAfter: 61 }),
    ...{ status: 503, requests: 2 },
  },
  "a server that asks for more than a minute in the midst": {
    faults: () => faultsOf(isPart, { status: 429, retryAfter: 61 }),
    ...{ status: 429 },
  },
  "a server that asks to wait until a time that is far": {
    faults: () => faultsOf(isTail, () => ({ status: 429, retryAfter: inMilliseconds(75_000) })),
    ...{ status: 429, requests: 2 },
  },
  "no right to it": {
    faults: () => faultsOf(all, { status: 403 }),
    ...{ status: 403, says: /access denied/, requests: 2 },
  },
  "no right to it any more": { faults: () => faultsOf(isPart, { status: 403 }), status: 403 },
  "no such object": {
    faults: () => faultsOf(all, { status: 404 }),
    ...{ status: 404, says: /no such object/, requests: 2 },
  },
  "no such object any more": { faults: () => faultsOf(isPart, { status: 410 }), status: 410 },
  "connections that are closed": {
    faults: () => faultsOf(all, { cutAfter: 0 }),
    says: /the connection was closed \(4 times/,
  },
  "connections that are closed in the midst": {
    faults: () => faultsOf(isPart, { cutAfter: 0 }),
    says: /the connection was closed \(4 times/,
  },
  "connections that are reset": {
    faults: () => faultsOf(isPart, { cutAfter: 0, reset: true }),
    cause: { code: "ECONNRESET" },
  },
  "stalls that bring nothing": {
    faults: () => faultsOf(isPart, { stallAfter: 0 }),
    timeouts: { stall: 300 },
    says: /no progress within 300 ms \(4 times/,
  },
  "stalls of the end": {
    faults: () => faultsOf(isTail, { stallAfter: 9 }),
    timeouts: { stall: 300 },
    says: /no progress within 300 ms \(4 times/,
  },
  "no answer": {
    faults: () => faultsOf(all, { noAnswer: true }),
    timeouts: { firstByte: 300 },
    says: /no response within 300 ms/,
  },
  "no answer in the midst": {
    faults: () => faultsOf(isPart, { noAnswer: true }),
    timeouts: { firstByte: 300 },
    says: /no response within 300 ms/,
  },
  "too few bytes": { faults: () => faultsOf(isTail, { extraBytes: -1 }) },
  "no Content-Range": {
    faults: () => faultsOf(isPart, { contentRange: "none" }),
    says: /expected a Content-Range .* \(4 times/,
  },
  "ranges that are ignored from then on": {
    faults: () => faultsOf(isPart, { ignoreRange: true }),
    ...{ status: 200, says: /ignored the range \(HTTP 200\)/ },
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
    ...{ code: "ERR_SOURCE_CHANGED", status: 412 },
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
  "a bit that is flipped each time": {
    faults: () => faultsOf(isPart, { flipBit: 20_000 }),
    code: "ERR_SNAPSHOT_FORMAT",
  },
};

test.each(Object.entries(ends))("%s: it is told, and nothing is left", async (_, expected) => {
  const origin = await serve({ faults: expected.faults() });
  const error = await restore(origin, { timeouts: expected.timeouts });
  expect(error).toMatchObject({ code: expected.code ?? "ERR_SOURCE", status: expected.status });
  expect(error?.message).toMatch(expected.says ?? /./);
  if (expected.cause !== undefined) expect(error).toMatchObject({ cause: expected.cause });
  expect(origin.requestCount).toBeLessThanOrEqual(expected.requests ?? 60);
});

describe("objects that are no snapshots:", () => {
  const objects: Record<string, () => Buffer> = {
    nothing: () => Buffer.alloc(0),
    "one byte": () => Buffer.alloc(1),
    noise: () => noise("none", 100_000),
    "a page": () => Buffer.from("<!doctype html>".repeat(10_000)),
    "a snapshot that is cut off": () => file.subarray(0, -1),
    "a snapshot with a bit of its end that is flipped": () => {
      const damaged = Buffer.from(file);
      damaged[damaged.length - 1000]! ^= 1;
      return damaged;
    },
    "the first half of a snapshot": () => file.subarray(0, file.length >> 1),
    "the last half of a snapshot": () => file.subarray(file.length >> 1),
  };

  test.each(Object.entries(objects))("%s", async (_, bytes) => {
    const origin = await originOf({ "/a.vhs": bytes() });
    expect(await restore(origin)).toMatchObject({ code: "ERR_SNAPSHOT_FORMAT" });
    expect(origin.requestCount).toBeLessThanOrEqual(4);
  });
});

test("a connection that is refused: it is told, and nothing is left", async () => {
  const origin = await serve();
  await origin.close();
  const error = await restore(origin);
  expect(error).toMatchObject({ code: "ERR_SOURCE", cause: { code: "ECONNREFUSED" } });
  expect(error?.message).toContain(often);
});

test("a host that there is not: it is told, and nothing is left", async () => {
  // Such a name is not looked up anywhere else, which might take its time.
  const restoring = restoreSnapshot("http://nobody..invalid/a.vhs?secret", restored, OPTIONS);
  const error = await refusalOf(restoring, "ERR_SOURCE");
  expect(error.cause).toMatchObject({ code: "ENOTFOUND" });
  expect(error.message).toContain("http://nobody..invalid/a.vhs:");
  await expectNothingLeft(path());
});
