/** Many who want one image at once, in several processes: it is fetched once, whatever becomes of who does so. */
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import type { Faults } from "../../../../tests/origin/fault.mjs";
import type { Origin } from "../../../../tests/origin/origin.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { KIB, MIB, makeSample, newDirectories, type Sample, strayFiles } from "../support/cache.js";
import { CacheProcess, type GotAll, type GotError } from "../support/cache-job.js";
import { expectNoConnections, isPart, isTail, originOf } from "../support/remote.js";
import { manifestOf, missingBytes, resumePaths } from "../support/resume-state.js";

const [PROCESSES, TIMES] = [4, 25];

/** Over one connection nothing is asked for twice because it is slow. */
const OPTIONS = { workers: 2, connections: 1, partSize: 512 * KIB };

/** What is asked of the end of a snapshot with its manifest, in bytes. */
const TAIL = 512 * KIB;

/** After how many bytes of an answer an origin halts. */
const HALT = 1000;

const path = temporaryFolder();
const newDirectory = newDirectories(path);
let [sample, sum] = [{} as Sample, ""];

beforeAll(async () => {
  // Data and holes, in turns.
  sample = await makeSample(path, "base", { data: 8 * MIB, size: 16 * MIB, stride: 128 * KIB });
  sum = createHash("sha256").update(readFileSync(sample.image)).digest("hex");
});

/** Starts processes that have one new cache open. */
async function startProcesses() {
  const directory = newDirectory();
  const opening = { directory, options: { maxBytes: 64 * MIB } };
  const processes = Array.from({ length: PROCESSES }, () => CacheProcess.start(opening));
  await Promise.all(processes.map((process) => process.toTell("ready")));
  return { directory, processes };
}

/** Has each process get the image of the same snapshot many times at once. */
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

/** Throws unless all got the same file, and it is the image. */
function expectOneImage(all: readonly GotAll[]): void {
  expect(all.flatMap(({ errors }) => errors)).toEqual([]);
  const images = all.flatMap((each) => each.images);
  expect(images.length).toBe(all.length * TIMES);
  expect(new Set(images.map((image) => `${image.file} ${image.sum}`)).size).toBe(1);
  expect(images[0]?.sum).toBe(sum);
}

/** Has all processes end, and throws if they left anything but the image. */
async function endAll(directory: string, processes: readonly CacheProcess[]): Promise<void> {
  await Promise.all(processes.map((process) => process.end()));
  expect(strayFiles(directory)).toEqual([]);
}

const rangesOf = ({ requests }: Origin) => requests.map(({ headers }) => headers.range).sort();

/** How often each byte of the snapshot was sent, at most. */
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
  const times = timesSent({ requests: origin.requests.filter((request) => !isLook(request)) });
  const tail = sample.fileSize - TAIL;
  for (let index = 0; index < frames.count; index += 1) {
    if (frames.isHole(index)) continue;
    const start = frames.fileOffset(index);
    const end = start + frames.compressedLength(index);
    const found = new Set(times.subarray(start, end));
    // One that begins before what came with the manifest is fetched whole.
    const expected = start < tail && tail < end ? [1, 2] : [1];
    expect([...found].sort(), `frame ${index}`).toEqual(expected);
  }
}

/** Whether it is a request for one byte, by which it is seen whether a snapshot is still the same. */
function isLook({ headers }: Origin["requests"][number]): boolean {
  return headers.range === "bytes=0-0";
}

test("who knows its digest: each byte is sent once, as for one restore", async () => {
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

  // Once it is there, nobody asks for anything.
  const [again] = await Promise.all(getAll(processes.slice(0, 1), origin, { digest }));
  expect(again?.images.every(({ hit }) => hit)).toBe(true);
  expect(origin.bytesSent).toBe(alone.bytesSent);
  await endAll(directory, processes);
  await expectNoConnections(origin);
});

test("who does not: each byte is sent once, and a look takes one", async () => {
  const alone = await originOf({ "/base.vhs": sample.snapshot });
  await restoreSnapshot(alone.url("/base.vhs"), path("restored"), { ...OPTIONS, resume: true });
  const origin = await originOf({ "/base.vhs": sample.snapshot });
  const { directory, processes } = await startProcesses();
  expectOneImage(await Promise.all(getAll(processes, origin, {})));

  const looks = origin.requests.filter(isLook).length;
  expect(rangesOf(origin).filter((range) => range !== "bytes=0-0")).toEqual(rangesOf(alone));
  expect(origin.bytesSent).toBe(alone.bytesSent + looks);
  // Each of the other processes looks for all who ask there.
  expect(looks).toBeLessThan(PROCESSES);
  await expectSentOnce(origin);
  await endAll(directory, processes);
});

/** An origin that sends the beginning of a snapshot, and then nothing, until it is told otherwise. */
async function haltingOrigin(bytes: Buffer | string = sample.snapshot): Promise<Origin> {
  const faults: Faults = (request) => {
    const isLate = isPart(request) && (request.range?.start ?? 0) > sample.fileSize / 2;
    return isLate ? { stallAfter: HALT } : undefined;
  };
  return originOf({ "/base.vhs": bytes }, { faults });
}

/** Waits until an origin that halts has sent all that it will, and all wait for more. */
async function toHalt({ requests }: Origin, processes: readonly CacheProcess[]): Promise<void> {
  await Promise.all(processes.map((process) => process.toTell("waiting")));
  while (requests.filter(isPart).at(-1)?.bytesSent !== HALT) await sleep(10);
}

/** Throws unless all were told the same. */
function expectErrors(all: readonly GotAll[], error: Partial<GotError>): void {
  expect(all.flatMap(({ images }) => images)).toEqual([]);
  const errors = all.flatMap((each) => each.errors);
  expect(errors.length).toBe(all.length * TIMES);
  expect(new Set(errors.map(({ message }) => message)).size).toBe(1);
  for (const found of errors) expect(found).toMatchObject(error);
}

const KNOWING = [
  { who: "who knows its digest", isKnown: true },
  { who: "who does not", isKnown: false },
];

test.each(KNOWING)(
  "$who: when the process is killed that fetches, another one fetches what is missing",
  async ({ isKnown }) => {
    const { digest, snapshot } = sample;
    const origin = await haltingOrigin();
    const { directory, processes } = await startProcesses();
    const getting = getAll(processes, origin, isKnown ? { digest } : {});
    const settled = Promise.allSettled(getting);
    await toHalt(origin, processes);
    const tellers = processes.map((process) => process.toTell("progress").then(() => process));
    const fetching = await Promise.race(tellers);
    const others = processes.filter((process) => process !== fetching);
    expect(others.flatMap(({ told }) => told)).not.toContain("progress");

    // Nobody changes what it leaves while that is looked at.
    fetching.stop();
    // Whatever it asked before that, as when it gave up what is slow, has come when this is answered.
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

test.each(KNOWING)(
  "$who: a refusal fails all who wait, in all processes, and the next ones ask again",
  async ({ isKnown }) => {
    const options = isKnown ? { digest: sample.digest } : {};
    const origin = await haltingOrigin();
    const { directory, processes } = await startProcesses();
    const getting = getAll(processes, origin, options);
    await toHalt(origin, processes);
    origin.faults = () => ({ status: 403 });
    // Whoever had been answered asks again.
    await origin.refuse(20);
    expectErrors(await Promise.all(getting), { code: "ERR_SOURCE", status: 403 });
    expect(origin.requests.filter(isTail).length, "one of them has asked").toBe(1);

    origin.faults = undefined;
    expectOneImage(await Promise.all(getAll(processes, origin, options)));
    expect(origin.requests.filter(isTail).length).toBe(2);
    await endAll(directory, processes);
  },
);

test.each(KNOWING)(
  "$who: a damaged snapshot fails all who wait, in all processes, and the next ones ask again",
  async ({ isKnown }) => {
    const options = isKnown ? { digest: sample.digest } : {};
    const damaged = readFileSync(sample.snapshot);
    // Where nobody has come when the origin halts.
    damaged[(3 * sample.fileSize) >> 2]! ^= 1;
    const origin = await haltingOrigin(damaged);
    const { directory, processes } = await startProcesses();
    const getting = getAll(processes, origin, options);
    await toHalt(origin, processes);
    origin.faults = undefined;
    await origin.refuse(20);
    expectErrors(await Promise.all(getting), { code: "ERR_SNAPSHOT_FORMAT" });
    expect(origin.requests.filter(isTail).length, "one of them has asked").toBe(1);

    origin.set("/base.vhs", sample.snapshot);
    expectOneImage(await Promise.all(getAll(processes, origin, options)));
    expect(origin.requests.filter(isTail).length).toBe(2);
    await endAll(directory, processes);
  },
);
