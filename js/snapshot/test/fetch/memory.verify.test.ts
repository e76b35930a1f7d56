/** The peak memory of restoring and verifying from a server. */
import { rmSync, statSync } from "node:fs";
import { type CreateOptions, createSnapshot, type RestoreOptions } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise, steps, writeSparse } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { run } from "../support/job.js";
import { expectNoConnections, originOf } from "../support/remote.js";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** The limit of a process with two workers, in bytes. */
const LIMIT = 320e6;

/** The data of an image, in bytes: more than the limit. */
const FULL = trials({ few: 320 * MIB, all: GIB });

/** The data of a sparse image, in MiB: `npm test` shows that holes take no memory. */
const SPARSE = trials({ few: 20, all: 290 });

const path = temporaryFolder();

/** An image of incompressible pieces. */
interface Sample {
  readonly size: number;
  readonly offsets: number[];
  readonly options: CreateOptions;
  /** The options of a restore that take more memory than none. */
  readonly more: RestoreOptions;
  /** How many of the calls `npm test` tries. */
  readonly few: number;
}

const images: Record<string, Sample> = {
  "an image of data": {
    size: FULL,
    offsets: [...steps(FULL, MIB)],
    options: { level: 1 },
    more: { connections: 64, partSize: GIB },
    // Larger pieces take more memory.
    few: 0,
  },
  "an image in pieces of 16 MiB": {
    size: FULL,
    offsets: [...steps(FULL, MIB)],
    options: { level: 1, pieceSize: 16 * MIB },
    more: { connections: 64, partSize: GIB },
    few: 2,
  },
  [`${SPARSE} MiB of data in 16 GiB`]: {
    size: 16 * GIB,
    offsets: [...steps(16 * GIB, 56 * MIB)].slice(0, SPARSE),
    options: { level: 1 },
    // The memory of a journal does not depend on the data, so one image with `resume` suffices.
    more: { resume: true },
    few: 1,
  },
};

const samples = Object.entries(images).map(([name, sample]) => {
  const { more, few } = sample;
  const restore = { title: `restoring ${name}`, call: "restoreSnapshot" as const };
  const verify = { title: `verifying ${name}`, call: "verifySnapshot" as const };
  const all = [
    { ...restore, options: more },
    { ...verify, options: {} },
    { ...restore, options: {} },
  ];
  const calls = all.slice(0, trials({ few, all: all.length }));
  return [name, { ...sample, calls }] as const;
});
const tried = samples.filter(([, { calls }]) => calls.length > 0);

describe.each(tried)("%s", (name, { size, offsets, options, calls }) => {
  const snapshot = path(`${name}.vhs`);

  beforeAll(async () => {
    writeSparse(path("image"), size, offsets, (offset) => noise(`${offset}`, MIB));
    await createSnapshot(path("image"), snapshot, options);
    expect(statSync(snapshot).size).toBeGreaterThanOrEqual(offsets.length * MIB);
    rmSync(path("image"));
  });

  const titled = calls.map(({ title, call, options: how }) => [title, how, call] as const);

  test.each(titled)("%s takes up to 320 MB, with the options %o", async (_, how, call) => {
    const origin = await originOf({ "/a.vhs": snapshot });
    const outcome = await run({
      call,
      source: origin.url("/a.vhs").href,
      target: path("restored"),
      options: { ...how, workers: 2 },
    });
    rmSync(path("restored"), { force: true });
    expect(outcome).toMatchObject({ error: null, used: 2, running: 0 });
    expect(outcome.peakMemory).toBeGreaterThan(30e6);
    expect(outcome.peakMemory).toBeLessThanOrEqual(LIMIT);
    await expectNoConnections(origin);
  });
});
