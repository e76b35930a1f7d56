/** Deltas over networks: which bytes of which object are requested, over which connections, and mixtures with files. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  inspectSnapshot,
  type Progress,
  type RestoreOptions,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, beforeEach, expect, test } from "vitest";

import type { Origin, OriginOptions } from "../../../../tests/origin/origin.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { DecodeJob } from "../../dist/decode/decode-job.js";
import { planRanges } from "../../dist/fetch/plan-ranges.js";
import { Frames } from "../../dist/format/frames.js";
import type { Manifest } from "../../dist/format/manifest.js";
import type { RemoteObject } from "../../dist/http/remote-object.js";
import { locationOf } from "../../dist/location/location.js";
import { openSource } from "../../dist/location/source.js";
import { type Chain, makeChain } from "../support/deltas.js";
import { recordEvents } from "../support/events.js";
import { type Job, killAfter, run } from "../support/job.js";
import { expectNothingLeft, faultsOf, isHead, isTail, originOf } from "../support/remote.js";
import { manifestOf, missingBytes, resumePaths } from "../support/resume-state.js";

const path = temporaryFolder();
const restored = path("folder", "restored");

/** The objects of the delta, by their number. */
const OBJECTS = ["a.vhs", "first.vhs", "base.vhs"] as const;

const OPTIONS = { workers: 1, connections: 1, partSize: 2 ** 18 };

let chain: Chain;
let manifest: Manifest;

beforeAll(async () => {
  chain = await makeChain(path);
  manifest = await manifestOf(path("a.vhs"));
});

beforeEach(() => {
  rmSync(path("folder"), { recursive: true, force: true });
  mkdirSync(path("folder"));
});

/** Serves some of the files. */
const serve = (options: Omit<OriginOptions, "files"> = {}, names: readonly string[] = OBJECTS) =>
  originOf(
    Object.fromEntries(
      Object.entries(chain.files)
        .filter(([name]) => names.includes(name))
        .map(([name, bytes]) => [`/${name}`, bytes]),
    ),
    options,
  );

/** Returns the requests for a file. */
const requestsFor = (origin: Origin, name: string) =>
  origin.requests.filter((request) => request.path === `/${name}`);

/** Returns the bytes of an object that hold frames of the delta: adjacent frames together. */
function usedBytes(object: number): { start: number; end: number }[] {
  const used: { start: number; end: number }[] = [];
  const { frames } = manifest;
  for (let index = 0; index < frames.count; index += 1) {
    if (frames.object(index) !== object) continue;
    const start = frames.fileOffset(index);
    const end = start + frames.compressedLength(index);
    const last = used.at(-1);
    if (last?.end === start) last.end = end;
    else used.push({ start, end });
  }
  return used;
}

const lengthOf = (ranges: readonly { start: number; end: number }[]) =>
  ranges.reduce((sum, { start, end }) => sum + end - start, 0);

test("the sample delta uses parts of three objects, one of them with gaps", () => {
  const { delta, dataSize, imageSize } = manifest.info;
  expect(delta).toMatchObject({ depth: 2, objects: { length: 2 } });
  expect(imageSize - dataSize).toBe(2 ** 18);
  expect(OBJECTS.map((_, object) => usedBytes(object).length)).toEqual([1, 1, 3]);
});

test("requests the tail, a byte of each base object, and then frames that the delta uses", async () => {
  const origin = await serve();
  await restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
  expectSame(readFileSync(restored), chain.image);
  const [own, ...bases] = OBJECTS.map((name) => requestsFor(origin, name));
  expect(own!.filter(isTail)).toHaveLength(1);
  // The tail brings most of the delta's own frames.
  const rest = chain.files["a.vhs"].length - 2 ** 19;
  expect(lengthOf(own!.slice(1).map(({ range }) => range!))).toBeLessThan(rest + 2 ** 17);
  for (const [at, requests] of bases.entries()) {
    const [first, ...others] = requests;
    expect(first!.headers.range).toBe("bytes=-1");
    const asked = others.map(({ range }) => range!);
    const used = usedBytes(at + 1);
    for (const range of asked) {
      expect(range.end - range.start).toBeLessThanOrEqual(OPTIONS.partSize);
      expect(used.some(({ start, end }) => range.start >= start && range.end <= end)).toBe(true);
    }
    expect(lengthOf(asked)).toBe(lengthOf(used));
    expect(others.every(({ headers }) => headers["if-match"] !== undefined)).toBe(true);
  }
  await expectNothingLeft(path("folder"), origin);
});

test("requests one range at a time over few connections, if it is allowed one", async () => {
  const delay = 30;
  const origin = await serve({ conditions: { firstByte: delay } });
  await restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
  const begins = origin.requests.map(({ begin }) => begin);
  for (const [index, begin] of begins.slice(1).entries()) {
    expect(begin - begins[index]!, `request ${index + 2}`).toBeGreaterThan(delay - 5);
  }
  // One connection for each tail, and one for all ranges of all objects.
  const used = new Set(origin.requests.map(({ connection }) => connection));
  expect(used.size).toBeLessThanOrEqual(OBJECTS.length + 1);
});

test.each([{}, { connections: 8 }, { workers: 2, partSize: 2 ** 16 }] as RestoreOptions[])(
  "prefetches the beginning of the delta only, and little twice, with %j",
  async (options) => {
    const origin = await serve();
    await restoreSnapshot(origin.url("/a.vhs"), restored, { workers: 1, ...options });
    expectSame(readFileSync(restored), chain.image);
    for (const name of ["first.vhs", "base.vhs"]) {
      const requests = requestsFor(origin, name);
      expect(requests.filter(isHead)).toEqual([]);
      const { usedBytes } = manifest.info.delta!.objects.find(
        ({ reference }) => reference === name,
      )!;
      const sent = requests.reduce((sum, { bytesSent }) => sum + bytesSent, 0);
      expect(sent).toBeLessThanOrEqual(usedBytes * 1.25);
    }
  },
);

test("does not open base objects whose frames are not wanted", async () => {
  const origin = await serve({}, ["a.vhs", "base.vhs"]);
  const url = origin.url("/a.vhs");
  const asked: string[] = [];
  const resolve = (digest: string) => void asked.push(digest);
  const options = { ...OPTIONS, resolve };
  const source = await openSource(locationOf("source", url), { options, wanted: "rest" });
  const found = await source.manifest();
  const isWanted = (frame: number) => found.frames.object(frame) === 2;
  await source.decode(new DecodeJob("part", found, undefined, isWanted), OPTIONS);
  await source.close();
  expect(asked).toEqual([manifest.info.delta?.objects[1]?.digest]);
  expect(requestsFor(origin, "first.vhs")).toEqual([]);
  expect(requestsFor(origin, "a.vhs")).toHaveLength(1);
});

test("inspects a delta by its tail, without its base objects", async () => {
  const origin = await serve({}, ["a.vhs"]);
  const info = await inspectSnapshot(origin.url("/a.vhs"));
  expect(info).toEqual(manifest.info);
  expect(origin.requests).toHaveLength(1);
  expect(isTail(origin.requests[0]!)).toBe(true);
});

test("events name the object by its URL", async () => {
  const requests = recordEvents("hedgerow:snapshot:request");
  const retries = recordEvents("hedgerow:snapshot:retry");
  const connections = recordEvents("hedgerow:snapshot:connections");
  const isBase = ({ path, headers }: { path: string; headers: { range?: string | undefined } }) =>
    path === "/base.vhs" && !isTail({ headers });
  const origin = await serve({ faults: faultsOf(isBase, { status: 503 }, 1) });
  const options = { ...OPTIONS, connections: 2 };
  await restoreSnapshot(origin.url("/a.vhs?secret"), restored, options);
  for (const [object, name] of OBJECTS.entries()) {
    const url = origin.url(`/${name}`).href;
    const emitted = requests.filter((event) => event.url === url);
    expect(emitted.length).toBeGreaterThan(0);
    for (const { start } of emitted) {
      expect(usedBytes(object).some((used) => start >= used.start && start < used.end)).toBe(true);
    }
  }
  expect(new Set(requests.map(({ url }) => url)).size).toBe(OBJECTS.length);
  expect(retries.map(({ url }) => url)).toEqual([origin.url("/base.vhs").href]);
  for (const { url } of connections) expect(url).toBe(origin.url("/a.vhs").href);
});

/**
 * Where the objects are: on the server if the bit of their number is set. `npm test` tries a third of the places, which
 * have each of the objects on the server, and each of them in a file.
 */
const places = Array.from({ length: 2 ** OBJECTS.length }, (_, bits) => ({
  remote: OBJECTS.filter((_, object) => (bits >> object) & 1),
})).filter((_, bits) => trials({ few: (bits + 2) % 3, all: 0 }) === 0);

test.each(places)(
  "restores, resumes and verifies a delta with $remote on a server",
  async ({ remote }) => {
    const origin = await serve({}, remote);
    const placeOf = (name: (typeof OBJECTS)[number]) =>
      remote.includes(name) ? origin.url(`/${name}`) : path(name);
    const { objects } = manifest.info.delta!;
    const names = new Map(objects.map(({ digest }, at) => [digest, OBJECTS[at + 1]!]));
    const resolve = (digest: string) => placeOf(names.get(digest)!);
    const { info } = manifest;
    for (const resume of [false, true]) {
      const progress: Progress[] = [];
      const onProgress = (now: Progress) => void progress.push(now);
      // A second worker takes twice as long to start.
      const options = { workers: resume ? 2 : 1, resolve, resume, onProgress, overwrite: true };
      const { duration: _, ...found } = await restoreSnapshot(placeOf("a.vhs"), restored, options);
      expect(found).toEqual(info);
      expectSame(readFileSync(restored), chain.image);
      expectGrowing(progress);
      expect(progress.at(-1)).toMatchObject({
        ...{ phase: "restore", bytes: info.dataSize, totalBytes: info.dataSize },
        compressedBytes: info.delta!.ownBytes + info.delta!.sharedBytes,
        frames: info.dataFrames,
      });
      expect(progress.at(-1)!.transferredBytes > 0).toBe(remote.length > 0);
    }
    expect(await verifySnapshot(placeOf("a.vhs"), { workers: 1, resolve })).toEqual(info);
    expect(readdirSync(path("folder"))).toEqual(["restored"]);
    await expectNothingLeft(path("folder"), origin);
  },
);

function expectGrowing(progress: readonly Progress[]): void {
  for (const [index, now] of progress.entries()) {
    const before = progress[index - 1] ?? now;
    for (const field of ["bytes", "compressedBytes", "frames", "transferredBytes"] as const)
      expect(now[field]).toBeGreaterThanOrEqual(before[field]);
  }
}

test.each(OBJECTS)("restores although the server has no ranges of %s", async (name) => {
  const events = recordEvents("hedgerow:snapshot:no-ranges");
  const isIt = (request: { path: string }) => request.path === `/${name}`;
  const origin = await serve({ faults: faultsOf(isIt, { ignoreRange: true }) });
  await restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
  expectSame(readFileSync(restored), chain.image);
  expect(events).toEqual([{ url: origin.url(`/${name}`).href }]);
  await expectNothingLeft(path("folder"), origin);
});

const SLOW = { bytesPerSecond: 1_500_000 };

test("resumes an aborted restore, and requests what is missing of each object", async () => {
  const origin = await serve({ conditions: SLOW });
  const options = { ...OPTIONS, connections: 3, resume: true };
  const [controller, reason] = [new AbortController(), new Error("the caller's own")];
  const { signal } = controller;
  const onProgress = ({ bytes, totalBytes }: Progress) => {
    if (bytes > totalBytes / 2) controller.abort(reason);
  };
  const call = restoreSnapshot(origin.url("/a.vhs"), restored, { ...options, signal, onProgress });
  expect(await rejectionOf(call)).toBe(reason);
  const missing = missingBytes(manifest, restored);
  expect(missing).toBeLessThan(missingBytes(manifest, path("nothing")) / 2);
  const before = origin.bytesSent;
  await restoreSnapshot(origin.url("/a.vhs"), restored, options);
  expectSame(readFileSync(restored), chain.image);
  expect(origin.bytesSent - before).toBeLessThanOrEqual(missing * 1.1 + 2 ** 19 + 2);
  expect(readdirSync(path("folder"))).toEqual(["restored"]);
});

test("resumes a killed restore", async () => {
  const origin = await serve({ conditions: SLOW });
  const all = missingBytes(manifest, path("nothing"));
  const options = { ...OPTIONS, connections: 3, resume: true };
  const source = origin.url("/a.vhs").href;
  const job: Job = { call: "restoreSnapshot", source, target: restored, options };
  const wasRunning = await killAfter(() => missingBytes(manifest, restored) < all / 2, job);
  expect(wasRunning).toBe(true);
  const { partial, journal } = resumePaths(restored, manifest.info.digest);
  expect(
    readdirSync(path("folder"))
      .map((name) => path("folder", name))
      .sort(),
  ).toEqual([journal, partial].sort());
  const missing = missingBytes(manifest, restored);
  const before = origin.bytesSent;
  const target = createHash("sha256").update(chain.image).digest("hex");
  expect(await run(job)).toMatchObject({ error: null, running: 0, names: ["restored"], target });
  expect(origin.bytesSent - before).toBeLessThanOrEqual(missing * 1.1 + 2 ** 19 + 2);
});

test.each(["first.vhs", "base.vhs"])("an abort ends the wait for %s", async (name) => {
  const isIt = (request: { path: string }) => request.path === `/${name}`;
  const origin = await serve({ faults: faultsOf(isIt, { noAnswer: true }) });
  const [controller, reason] = [new AbortController(), new Error("the caller's own")];
  const options = { ...OPTIONS, signal: controller.signal };
  const ended = rejectionOf(restoreSnapshot(origin.url("/a.vhs"), restored, options));
  while (requestsFor(origin, name).length === 0) await sleep(5);
  controller.abort(reason);
  expect(await ended).toBe(reason);
  expect(readdirSync(path("folder"))).toEqual([]);
  await expectNothingLeft(path("folder"), origin);
});

test("plans hundreds of thousands of ranges", async () => {
  const count = 2 ** 18;
  const records = new SharedArrayBuffer(64 * count);
  const [doubles, words] = [new Float64Array(records), new Uint32Array(records)];
  for (let index = 0; index < count; index += 1) {
    // Too far from each other for one range.
    doubles[8 * index + 1] = 32 + index * 2 ** 18;
    words.set([4096, 4096, 1 << 8, index], 16 * index + 4);
  }
  const empty = new SharedArrayBuffer(0);
  const starts = new SharedArrayBuffer(4 * (count + 1));
  const frames = new Frames({ records, segments: empty, segmentStarts: starts });
  const info = { ...manifest.info, dataFrames: count };
  const job = new DecodeJob("delta", { info, frames, tail: new Uint8Array(0) }, undefined);
  const version = { size: 2 ** 40, etag: undefined, lastModified: undefined };
  const object = { version, size: 2 ** 40, tail: new SharedArrayBuffer(1) } as RemoteObject;
  const { scheduler } = await planRanges([undefined, object], job, 2 ** 20, 4);
  expect(scheduler.count).toBe(count);
  expect(scheduler.range(count - 1)).toEqual({ index: count - 1, first: count - 1, end: count });
});
