/** The peak memory of operations on local files. */
import { rmSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { noise, steps, writeSparse } from "../../../tests/support/snapshots/image.js";
import { trials } from "../../../tests/support/trials.js";
import { extentsOf } from "./support/extents.js";
import { type Job, run } from "./support/job.js";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

const WORKERS = trials({ few: 1, all: 2 });
/** More pieces than fit into the allowed memory at once. */
const PIECES = trials({ few: 110, all: 300 });
/** The same for a disk. */
const DISK_PIECES = trials({ few: 200, all: 300 });
/** The maximum number of runs of each job. */
const ROUNDS = 3;
const LIMIT = WORKERS * 100e6;
const SIZES = [GIB, 64 * GIB];

const path = temporaryFolder();
/** The peak memory of an idle process. */
let idle = 0;
const imageOf = (size: number) => path(`${size}`);
const snapshotOf = (size: number) => path(`${size}.vhs`);

/** Writes a sparse image with pieces all over it. */
function writeImage(size: number, pieces: number): void {
  const step = Math.floor(size / pieces / MIB) * MIB;
  const offsets = [...steps(size, step)].slice(0, pieces);
  writeSparse(imageOf(size), size, offsets, (offset) => noise(`${offset / step}`, MIB));
}

beforeAll(async () => {
  for (const size of SIZES) {
    writeImage(size, PIECES);
    expect(await extentsOf(imageOf(size))).toHaveLength(PIECES);
  }
  idle = await memoryOf({ call: "nothing", source: imageOf(GIB), target: path("none") });
});

/** Returns how many workers a job uses. */
function usedBy({ call }: Job): number {
  if (call === "nothing") return 0;
  // A disk is filled, and its only changed piece is saved.
  return call === "openSnapshot" ? WORKERS + 1 : WORKERS;
}

/** Returns the peak memory of a job, in bytes. */
async function memoryOf(job: Job): Promise<number> {
  const outcome = await run({ ...job, options: { workers: WORKERS } });
  expect(outcome).toMatchObject({ error: null, used: usedBy(job) });
  return outcome.peakMemory;
}

const jobs: Record<string, (size: number) => Omit<Job, "options">> = {
  createSnapshot: (size) => {
    return { call: "createSnapshot", source: imageOf(size), target: snapshotOf(size) };
  },
  restoreSnapshot: (size) => {
    return { call: "restoreSnapshot", source: snapshotOf(size), target: path("restored") };
  },
  verifySnapshot: (size) => {
    return { call: "verifySnapshot", source: snapshotOf(size), target: path("none") };
  },
};

describe.each(Object.keys(jobs))("%s", (name) => {
  test(`${name} takes up to 100 MB per worker, and no more for 64 GiB than for 1 GiB`, async () => {
    const rounds: number[][] = [];
    let found: number[] = [];
    const isConstant = () => Math.max(...found) <= Math.min(...found) * 1.2 + 5e6;
    do {
      const round: number[] = [];
      for (const size of SIZES) round.push((await memoryOf(jobs[name]!(size))) - idle);
      for (const bytes of round) expect(bytes).toBeLessThanOrEqual(LIMIT);
      rounds.push(round);
      // Garbage collection varies; the minimum is what the job needs.
      found = SIZES.map((_, index) => Math.min(...rounds.map((each) => each[index]!)));
    } while (
      rounds.length < trials({ few: 1, all: ROUNDS }) ||
      (!isConstant() && rounds.length < ROUNDS)
    );
    rmSync(path("restored"), { force: true });
    expect(Math.min(...found)).toBeGreaterThan(0);
    expect(found).toSatisfy(isConstant);
  });
});

/** A disk of 1 TiB needs no less memory than the smaller one. */
const DISKS = [2 ** 40, 16 * GIB].slice(0, trials({ few: 1, all: 2 }));

test.each(DISKS)(
  "a disk of %d bytes takes up to 250 MB to be filled, written to, saved, and opened again",
  async (size) => {
    writeImage(size, DISK_PIECES);
    const disk = path(`disk-${size}`);
    await memoryOf({ call: "createSnapshot", source: imageOf(size), target: snapshotOf(size) });
    const found = await memoryOf({ call: "openSnapshot", source: snapshotOf(size), target: disk });
    for (const name of [imageOf(size), disk]) rmSync(name);
    expect(found - idle).toBeLessThanOrEqual(250e6);
  },
);
