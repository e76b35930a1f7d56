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

/** More pieces than fit into the allowed memory at once. */
const PIECES = trials({ few: 200, all: 300 });
const WORKERS = 2;
/** How often each job runs. */
const ROUNDS = trials({ few: 2, all: 3 });
const LIMIT = WORKERS * 100e6;
const SIZES = [GIB, 64 * GIB];

const path = temporaryFolder();
const imageOf = (size: number) => path(`${size}`);
const snapshotOf = (size: number) => path(`${size}.vhs`);

beforeAll(async () => {
  for (const size of SIZES) {
    const step = Math.floor(size / PIECES / MIB) * MIB;
    const offsets = [...steps(size, step)].slice(0, PIECES);
    writeSparse(imageOf(size), size, offsets, (offset) => noise(`${offset / step}`, MIB));
    expect(await extentsOf(imageOf(size))).toHaveLength(PIECES);
  }
});

/** Returns the peak memory of each run of a job, minus that of an idle process, in bytes. */
async function memoryOf(job: Omit<Job, "options">): Promise<number[]> {
  const idle = await run({ ...job, call: "nothing" });
  const found: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const outcome = await run({ ...job, options: { workers: WORKERS } });
    expect(outcome).toMatchObject({ error: null, started: WORKERS });
    found.push(outcome.peakMemory - idle.peakMemory);
  }
  return found;
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
    const found: number[] = [];
    for (const size of SIZES) {
      const rounds = await memoryOf(jobs[name]!(size));
      for (const bytes of rounds) expect(bytes).toBeLessThanOrEqual(LIMIT);
      // Garbage collection varies; the minimum is what the job needs.
      found.push(Math.min(...rounds));
    }
    rmSync(path("restored"), { force: true });
    expect(Math.min(...found)).toBeGreaterThan(0);
    expect(Math.max(...found)).toBeLessThanOrEqual(Math.min(...found) * 1.2 + 5e6);
  }, 300_000);
});
