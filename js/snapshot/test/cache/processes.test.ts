/** Several processes that request one image at once: it is fetched once, even if the fetching process is killed. */
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import type { Faults } from "../../../../tests/origin/fault.mjs";
import type { Origin } from "../../../../tests/origin/origin.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { trials } from "../../../../tests/support/trials.js";
import { KIB, MIB, makeSample, newDirectories, type Sample, strayFiles } from "../support/cache.js";
import { CacheProcess, type GotAll } from "../support/cache-job.js";
import { expectNoConnections, isPart, isTail, originOf } from "../support/remote.js";
import { manifestOf, missingBytes, resumePaths } from "../support/resume-state.js";

const [PROCESSES, TIMES] = [3, 25];

/** Over one connection, no request is hedged. */
const OPTIONS = { workers: 1, connections: 1, partSize: 512 * KIB };

/** The length of the first request, for the end of a snapshot with its manifest, in bytes. */
const TAIL = 512 * KIB;

/** The number of bytes after which a response stalls. */
const STALL_AFTER = 1000;

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let [sample, sum] = [{} as Sample, ""];

beforeAll(async () => {
  // Alternating data and holes.
  sample = await makeSample(path, "base", { data: 8 * MIB, size: 16 * MIB, stride: 128 * KIB });
  sum = createHash("sha256").update(readFileSync(sample.image)).digest("hex");
});

/** Starts processes that open one new cache. */
async function startProcesses(count = PROCESSES) {
  const directory = newDirectory();
  const opening = { directory, options: { maxBytes: 64 * MIB } };
  const processes = Array.from({ length: count }, () => CacheProcess.start(opening));
  await Promise.all(processes.map((process) => process.untilReported("ready")));
  return { directory, processes };
}

/** Makes each process get the image many times at once. */
function getAll(
  processes: readonly CacheProcess[],
  origin: Origin,
  options: { readonly digest?: string },
): Promise<GotAll>[] {
  const source = origin.url("/base.vhs").href;
  return processes.map((process) =>
    process.get({ source, options: { ...OPTIONS, ...options }, times: TIMES }),
  );
}

/** Throws unless all got the same file, with the right content. */
function expectOneImage(all: readonly GotAll[]): void {
  expect(all.flatMap(({ errors }) => errors)).toEqual([]);
  const images = all.flatMap((each) => each.images);
  expect(images.length).toBe(all.length * TIMES);
  expect(new Set(images.map((image) => `${image.file} ${image.sum}`)).size).toBe(1);
  expect(images[0]?.sum).toBe(sum);
}

/** Ends all processes, and throws if they left other files than the image. */
async function endAll(directory: string, processes: readonly CacheProcess[]): Promise<void> {
  await Promise.all(processes.map((process) => process.end()));
  expect(strayFiles(directory)).toEqual([]);
}

const rangesOf = ({ requests }: Origin) => requests.map(({ headers }) => headers.range).sort();

/** Counts how often each byte of the snapshot was requested. */
function timesSent({ requests }: Pick<Origin, "requests">): Uint8Array {
  const times = new Uint8Array(sample.fileSize);
  for (const { range } of requests) {
    if (range === undefined) throw new Error("expected requests for ranges, found one for all");
    for (let at = range.start; at < range.end; at += 1) times[at]! += 1;
  }
  return times;
}

/** Throws unless each frame of data was sent once. */
async function expectSentOnce(origin: Origin): Promise<void> {
  const { frames } = await manifestOf(sample.snapshot);
  const times = timesSent({ requests: origin.requests.filter((request) => !isCheck(request)) });
  const tail = sample.fileSize - TAIL;
  for (let index = 0; index < frames.count; index += 1) {
    if (frames.isHole(index)) continue;
    const start = frames.fileOffset(index);
    const end = start + frames.compressedLength(index);
    const found = new Set(times.subarray(start, end));
    // A frame that begins before the first request is fetched whole.
    const expected = start < tail && tail < end ? [1, 2] : [1];
    expect([...found].sort(), `frame ${index}`).toEqual(expected);
  }
}

/** Whether it is a request for one byte, which checks whether a snapshot has changed. */
function isCheck({ headers }: Origin["requests"][number]): boolean {
  return headers.range === "bytes=0-0";
}

test("sends each byte once to processes that know the digest", async () => {
  const alone = await originOf({ "/base.vhs": sample.snapshot });
  await restoreSnapshot(alone.url("/base.vhs"), path("restored"), { ...OPTIONS, resume: true });
  const origin = await originOf({ "/base.vhs": sample.snapshot });
  const { directory, processes } = await startProcesses();
  const { digest } = sample;
  const all = await Promise.all(getAll(processes, origin, { digest }));

  expectOneImage(all);
  expect(all.flatMap(({ images }) => images).filter(({ hit }) => hit).length).toBeLessThan(
    PROCESSES * TIMES,
  );
  expect(rangesOf(origin)).toEqual(rangesOf(alone));
  expect(origin.bytesSent).toBe(alone.bytesSent);
  await expectSentOnce(origin);

  // Later hits make no requests.
  const [again] = await Promise.all(getAll(processes.slice(0, 1), origin, { digest }));
  expect(again?.images.every(({ hit }) => hit)).toBe(true);
  expect(origin.bytesSent).toBe(alone.bytesSent);
  await endAll(directory, processes);
  await expectNoConnections(origin);
});

test("sends each byte once to processes that do not know the digest, and one byte per check", async () => {
  const alone = await originOf({ "/base.vhs": sample.snapshot });
  await restoreSnapshot(alone.url("/base.vhs"), path("restored"), { ...OPTIONS, resume: true });
  const origin = await originOf({ "/base.vhs": sample.snapshot });
  const { directory, processes } = await startProcesses();
  expectOneImage(await Promise.all(getAll(processes, origin, {})));

  const checks = origin.requests.filter(isCheck).length;
  expect(rangesOf(origin).filter((range) => range !== "bytes=0-0")).toEqual(rangesOf(alone));
  expect(origin.bytesSent).toBe(alone.bytesSent + checks);
  // Each of the other processes checks once for all its callers.
  expect(checks).toBeLessThan(PROCESSES);
  await expectSentOnce(origin);
  await endAll(directory, processes);
});

/** An origin that stalls in the second half of the snapshot while its faults are set. */
async function stallingOrigin(bytes: Buffer | string = sample.snapshot): Promise<Origin> {
  const faults: Faults = (request) => {
    const isLate = isPart(request) && (request.range?.start ?? 0) > sample.fileSize / 2;
    return isLate ? { stallAfter: STALL_AFTER } : undefined;
  };
  return originOf({ "/base.vhs": bytes }, { faults });
}

/** Waits until an origin has stalled and all processes wait for it. */
async function untilStalled(
  { requests }: Origin,
  processes: readonly CacheProcess[],
): Promise<void> {
  await Promise.all(processes.map((process) => process.untilReported("waiting")));
  while (requests.filter(isPart).at(-1)?.bytesSent !== STALL_AFTER) await sleep(10);
}

const WAYS = [
  ["with a digest", true],
  ["without a digest", false],
] as const;

/** The ways to try: in `npm test` one of them, which is not the same for each test. */
const waysFrom = (first: 0 | 1) =>
  [...WAYS.slice(first), ...WAYS.slice(0, first)].slice(0, trials({ few: 1, all: WAYS.length }));

test.each(waysFrom(1))(
  "fetches only missing data after the fetching process was killed, %s",
  async (_, isKnown) => {
    const { digest, snapshot } = sample;
    const origin = await stallingOrigin();
    const { directory, processes } = await startProcesses();
    const getting = getAll(processes, origin, isKnown ? { digest } : {});
    const settled = Promise.allSettled(getting);
    await untilStalled(origin, processes);
    const reports = processes.map((process) =>
      process.untilReported("progress").then(() => process),
    );
    const fetching = await Promise.race(reports);
    const others = processes.filter((process) => process !== fetching);
    expect(others.flatMap(({ activities }) => activities)).not.toContain("progress");

    // The process is stopped while its files are read.
    fetching.stop();
    // Its earlier requests have arrived when this one is answered.
    await fetch(origin.url("/-/stats"));
    const { journal } = resumePaths(path("seen"), digest);
    copyFileSync(join(directory, "filling", `${digest}.claim`), journal);
    const manifest = await manifestOf(snapshot);
    const missing = missingBytes(manifest, path("seen"));
    const all = missingBytes(manifest, path("nothing"));
    expect(missing).toBeGreaterThan(all / 3);
    expect(missing).toBeLessThan((2 * all) / 3);
    origin.faults = undefined;
    const before = origin.requests.length;
    await fetching.kill();
    await settled;

    expectOneImage(await Promise.all(getting.filter((_, index) => processes[index] !== fetching)));
    const after = origin.requests.slice(before);
    const sent = after.reduce((sum, { bytesSent }) => sum + bytesSent, 0);
    expect(sent).toBeGreaterThan(missing - TAIL);
    expect(sent).toBeLessThanOrEqual(missing * 1.1 + TAIL);
    expect(after.filter(isTail).length).toBe(1);
    await endAll(directory, others);
  },
);

test.each(waysFrom(0))(
  "lets waiting processes try themselves when a request is refused, %s",
  async (_, isKnown) => {
    const options = isKnown ? { digest: sample.digest } : {};
    const origin = await stallingOrigin();
    const { directory, processes } = await startProcesses(2);
    const getting = getAll(processes, origin, options);
    await untilStalled(origin, processes);
    origin.faults = () => ({ status: 403 });
    // Requests that were being answered are made again.
    await origin.refuse(20);
    const all = await Promise.all(getting);
    for (const { images, errors } of all) {
      expect(images).toEqual([]);
      expect(errors.length).toBe(TIMES);
      // All callers in a process get the same error.
      expect(new Set(errors.map(({ message }) => message)).size).toBe(1);
      expect(errors[0]).toMatchObject({ code: "ERR_SOURCE", status: 403 });
    }
    expect(origin.requests.filter(isTail).length).toBe(2);

    origin.faults = undefined;
    expectOneImage(await Promise.all(getAll(processes, origin, options)));
    expect(origin.requests.filter(isTail).length).toBe(3);
    await endAll(directory, processes);
  },
);
