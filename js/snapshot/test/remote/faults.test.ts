/** Faults of servers and networks from which a restore recovers. */
import { readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Progress, restoreSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import type { Faults } from "../../../../tests/origin/fault.mjs";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import {
  all,
  EARLIER,
  file,
  image,
  inMilliseconds,
  LATER,
  OPTIONS,
  onceEach,
  other,
  path,
  restore,
  restored,
  serve,
} from "../support/faulty.js";
import { expectNothingLeft, faultsOf, isHead, isPart, isTail, SOON } from "../support/remote.js";

const recoverable: Record<string, () => Faults> = {
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
  "a failing server": () => onceEach(all, { status: 500 }),
  "a busy server": () => onceEach(all, { status: 503 }),
  "a server that asks for a pause of one second": () =>
    faultsOf(isPart, { status: 503, retryAfter: 1 }, 2),
  "a server that asks for a pause of one second before the tail": () =>
    faultsOf(isTail, { status: 429, retryAfter: 1 }, 1),
  "a server that asks to wait until a date": () =>
    faultsOf(isPart, () => ({ status: 429, retryAfter: inMilliseconds(1500) }), 1),
  "too many requests": () => onceEach(isPart, { status: 429 }),
  "no ETags": () => faultsOf(all, { etag: null }),
  "weak ETags": () => faultsOf(all, { etag: 'W/"weak"' }),
  "an ETag that disappears": () => faultsOf(isPart, { etag: null, ignoreIfMatch: true }),
};

/** Faults after which nothing is sent. Only these tests use short timeouts, which no other fault may exceed. */
const silent: Record<string, () => Faults> = {
  "stalls near the end of a range": () => onceEach(isPart, { stallAfter: 200_000 }),
  "a stall of the tail": () => faultsOf(isTail, { stallAfter: 100 }, 1),
  "no responses": () => onceEach(isPart, { noAnswer: true }),
  "no response for the tail": () => faultsOf(isTail, { noAnswer: true }, 1),
};

/** Faults of requests that two workers make at the same time. */
const shared: ReadonlySet<string> = new Set([
  ...["a rate limit", "connections that are reset", "bits that are flipped once each"],
  ...["a busy server", "no responses"],
]);

test.each([
  ...Object.entries(recoverable).map(([name, make]) => ({ name, make, timeouts: {} })),
  ...Object.entries(silent).map(([name, make]) => ({ name, make, timeouts: SOON })),
])("restores all bytes despite $name", async ({ name, make, timeouts }) => {
  const origin = await serve({ faults: make() });
  const workers = shared.has(name) ? 2 : 1;
  expect(await restore(origin, { timeouts, workers })).toBe(undefined);
  expect(origin.requestCount).toBeLessThan(100);
});

/** The prefix is requested together with the tail, unless `connections` is set. */
test.each([
  ["late", { firstByte: 250 }, {}],
  ["ignored", { ignoreRange: true }, {}],
  ["cut off", { cutAfter: 50_000 }, {}],
  ["damaged", { flipBit: 80_000 }, {}],
  ["refused", { status: 500 }, {}],
  ["stalled", { stallAfter: 100 }, SOON],
  ["without a response", { noAnswer: true }, SOON],
] as const)("restores all bytes despite a prefix that is %s", async (_, fault, timeouts) => {
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
  "requests ranges of a file with %s on the condition that it is unchanged",
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

test("ignores a date that differs if the strong ETag is the same", async () => {
  const faults: Faults = (request) => ({ lastModified: isPart(request) ? LATER : EARLIER });
  expect(await restore(await serve({ faults }))).toBe(undefined);
});

test("discards a prefix of another date than the tail", async () => {
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
  // The prefix is of another file, and does not count.
  expect(transferred).toBeLessThan(file.length + OPTIONS.partSize / 2);
});

test("waits as long as the server asks for", async () => {
  const faults = faultsOf(isPart, { status: 503, retryAfter: 1 }, 1);
  const origin = await serve({ faults });
  expect(await restore(origin, { connections: 1 })).toBe(undefined);
  const refused = origin.requests.findIndex(({ status }) => status === 503);
  const [first, next] = origin.requests.slice(refused);
  expect(next!.headers.range).toBe(first!.headers.range);
  expect(next!.begin - first!.begin).toBeGreaterThanOrEqual(990);
});

test("restores all bytes although connections are refused for a while", async () => {
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
