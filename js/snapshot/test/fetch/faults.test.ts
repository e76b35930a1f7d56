/** Faults of servers and networks from which a restore recovers. */
import { readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Progress, restoreSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import type { Faults } from "../../../../tests/origin/fault.mjs";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { recoverable, silent } from "../support/fault-tables.js";
import {
  all,
  EARLIER,
  file,
  image,
  LATER,
  OPTIONS,
  other,
  path,
  restore,
  restored,
  serve,
} from "../support/faulty.js";
import { expectNothingLeft, faultsOf, isHead, isPart, SOON } from "../support/remote.js";

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

test("restores all bytes if every attempt brings a frame and then a damaged one", async () => {
  const origin = await serve({ faults: faultsOf(isPart, { flipBit: 80_000 }) });
  expect(await restore(origin, { connections: 1, partSize: 2 ** 19 })).toBe(undefined);
  expect(origin.requestCount).toBeGreaterThan(6);
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
