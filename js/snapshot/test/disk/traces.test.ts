/** What a disk reads first, and what the next one fetches first. */
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createSnapshot, openSnapshot, type Trace } from "@hedgerow/snapshot";
import { beforeAll, expect, test, vi } from "vitest";

import type { LoggedRequest } from "../../../../tests/origin/origin.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { framesOf } from "../../dist/disk/trace.js";
import { expectNoConnections, faultsOf, isPart, originOf } from "../support/remote.js";
import { s3Options, urlOf } from "../support/upload-s3.js";

const [KIB, MIB] = [2 ** 10, 2 ** 20];
const path = temporaryFolder();
const image = noise("trace", 8 * MIB);
let snapshot: Buffer;

beforeAll(async () => {
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("a.vhs"), { pieceSize: 64 * KIB, workers: 1 });
  snapshot = readFileSync(path("a.vhs"));
});

/** The parts that a disk reads, in this order: neither at the beginning nor at the end of the file. */
const READ = [5 * MIB, 2 * MIB, 2 * MIB + 64 * KIB, 3 * MIB];

const units = (...offsets: readonly number[]): Trace => {
  return { version: 1, ranges: offsets.map((offset) => [offset, 64 * KIB]) };
};

test("records what is read, once, in order", async () => {
  await using disk = await openSnapshot(path("a.vhs"), { image: path("recorded"), fill: "none" });
  for (const offset of [...READ, ...READ]) await disk.read(offset + 100, 200);
  const ranges = [
    [5 * MIB, 64 * KIB],
    [2 * MIB, 128 * KIB],
    [3 * MIB, 64 * KIB],
  ];
  expect(disk.trace).toEqual({ version: 1, ranges });
  await disk.saveTrace();
  expect(JSON.parse(readFileSync(path("a.vhs.trace"), "utf8"))).toEqual(disk.trace);
});

test("fetches the parts of a trace first, and alone without a fill", async () => {
  const trace = `${JSON.stringify(units(...READ))}\n`;
  const origin = await originOf({ "/a.vhs": snapshot, "/a.vhs.trace": Buffer.from(trace) });
  const options = { image: path("traced"), fill: "none" as const };
  await using disk = await openSnapshot(origin.url("/a.vhs").href, options);
  while (disk.progress.bytes < READ.length * 64 * KIB) await new Promise(setImmediate);
  const { requestCount } = origin;
  for (const offset of READ)
    expectSame(await disk.read(offset, 100), image.subarray(offset, offset + 100));
  expect(origin.requestCount).toBe(requestCount);
});

test("fetches nothing else while parts of a trace are on their way", async () => {
  const trace = `${JSON.stringify(units(...READ))}\n`;
  let requested = 0;
  const faults = faultsOf(isPart, ({ length }) => {
    requested += length;
    return { firstByte: 5_000 };
  });
  const files = { "/a.vhs": snapshot, "/a.vhs.trace": Buffer.from(trace) };
  const origin = await originOf(files, { faults });
  await using _disk = await openSnapshot(origin.url("/a.vhs").href, { image: path("alone") });
  while (requested < READ.length * 64 * KIB) await sleep(5);
  await sleep(500);
  // Frames between two parts that are near each other are fetched, too.
  expect(requested).toBeLessThan(2 * MIB);
});

test("ends the requests of the fill when readers need the trace alone, and repeats them later", async () => {
  const trace = `${JSON.stringify(units(...READ))}\n`;
  const isOther = ({ range }: Pick<LoggedRequest, "range">) =>
    range !== undefined && range.end - range.start > 512 * KIB;
  // Without a new request, the rest would not come.
  const faults = faultsOf((request) => isPart(request) && isOther(request), {
    stallAfter: 256 * KIB,
  });
  const files = { "/a.vhs": snapshot, "/a.vhs.trace": Buffer.from(trace) };
  const origin = await originOf(files, { faults });
  // A request that has stalled is not given up by itself.
  const options = { image: path("paused"), timeouts: { stall: 3_600_000 } };
  await using disk = await openSnapshot(origin.url("/a.vhs").href, options);
  const others = () => origin.requests.filter(isOther).filter(isPart);
  await vi.waitFor(() => expect(others().length).toBeGreaterThan(2), 30_000);
  for (const offset of READ) await disk.read(offset, 100);
  await vi.waitFor(() => expect(others().filter(({ aborted }) => !aborted)).toEqual([]), 30_000);
  origin.faults = undefined;
  await disk.read(7 * MIB, 100);
  await disk.filled;
  expectSame(readFileSync(path("paused")), image);
});

const traces: Record<string, unknown> = {
  "of another image": units(2 ** 40, 0, 2 ** 52),
  "with overlapping ranges": {
    version: 1,
    ranges: [
      [0, 8 * MIB],
      [0, 2 ** 53 - 1],
      [1, 1],
    ],
  },
  "of a later version": { version: 2, ranges: [[0, 1]] },
  "without ranges": { version: 1 },
  "with a negative offset": { version: 1, ranges: [[-1, 1]] },
  "that is not JSON": "{",
  "that is too long": " ".repeat(2 * MIB),
};

test.each(Object.entries(traces))("a trace %s costs time at most", async (_, trace) => {
  const text = typeof trace === "string" ? trace : JSON.stringify(trace);
  const origin = await originOf({ "/a.vhs": snapshot, "/a.vhs.trace": Buffer.from(text) });
  const target = path(`forged-${_.replaceAll(" ", "-")}`);
  await using disk = await openSnapshot(origin.url("/a.vhs").href, { image: target, workers: 1 });
  expectSame(await disk.read(0, disk.size), image);
  await disk.filled;
  expectSame(readFileSync(target), image);
});

test("of a forged trace, no more is looked at than one without overlaps could have", () => {
  const segmentCount = 1000;
  let looked = 0;
  const layout = {
    ...{ size: segmentCount, segmentCount },
    everyFrame(start: number, end: number, test: (frame: number) => boolean) {
      for (let frame = start; frame < end; frame += 1) {
        looked += 1;
        if (!test(frame)) return false;
      }
      return true;
    },
  };
  const forged = Array.from({ length: 5_000 }, () => [1, segmentCount] as [number, number]);
  expect(framesOf({ version: 1, ranges: forged }, layout).size).toBe(999);
  expect(looked).toBe(segmentCount + forged.length);
  const honest = Array.from({ length: segmentCount }, (_, at) => [at, 1] as [number, number]);
  const frames = framesOf({ version: 1, ranges: honest.toReversed() }, layout);
  expect([...frames]).toEqual(honest.map(([at]) => at).toReversed());
});

test("a trace is no longer requested when the disk could not be opened", async () => {
  const origin = await originOf(
    { "/a.vhs.trace": Buffer.from("{}") },
    {
      faults: ({ path }) => (path === "/a.vhs" ? { firstByte: 100 } : { noAnswer: true }),
    },
  );
  const opening = openSnapshot(origin.url("/a.vhs"), { image: path("not-opened") });
  await expect(opening).rejects.toMatchObject({ code: "ERR_SOURCE", status: 404 });
  await expectNoConnections(origin);
});

test("stores a trace in S3 and on a server, and finds it there", async () => {
  const origin = await originOf({ "/a.vhs": snapshot });
  await createSnapshot(
    path("image"),
    urlOf("a.vhs"),
    s3Options({ pieceSize: 64 * KIB, workers: 1 }),
  );
  for (const [at, source, options] of [
    ["http", origin.url("/a.vhs").href, {}],
    ["s3", urlOf("a.vhs"), s3Options()],
  ] as const) {
    const open = (name: string) =>
      openSnapshot(source, { ...options, image: path(`${at}-${name}`), fill: "none" });
    const first = await open("first");
    for (const offset of READ) await first.read(offset, 100);
    await first.saveTrace();
    await first.close();
    await using second = await open("second");
    while (second.progress.bytes < READ.length * 64 * KIB) await new Promise(setImmediate);
  }
});
