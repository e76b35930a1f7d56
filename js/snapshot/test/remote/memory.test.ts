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

const path = temporaryFolder();

/** Images of incompressible pieces. */
const images: Record<string, { size: number; offsets: number[]; options: CreateOptions }> = {
  "an image of data": { size: FULL, offsets: [...steps(FULL, MIB)], options: { level: 1 } },
  "an image in pieces of 16 MiB": {
    size: FULL,
    offsets: [...steps(FULL, MIB)],
    options: { level: 1, pieceSize: 16 * MIB },
  },
  "290 MiB of data in 16 GiB": {
    size: 16 * GIB,
    offsets: [...steps(16 * GIB, 56 * MIB)].slice(0, 290),
    options: { level: 1 },
  },
};

describe.each(Object.entries(images))("%s", (name, { size, offsets, options }) => {
  const snapshot = path(`${name}.vhs`);

  beforeAll(async () => {
    writeSparse(path("image"), size, offsets, (offset) => noise(`${offset}`, MIB));
    await createSnapshot(path("image"), snapshot, options);
    expect(statSync(snapshot).size).toBeGreaterThanOrEqual(offsets.length * MIB);
    rmSync(path("image"));
  });

  // The memory of a journal does not depend on the data, so one image with `resume` suffices.
  const more = size === FULL ? { connections: 64, partSize: GIB } : { resume: true };
  // `npm test` tries every image and all options, but not all options with each image.
  const isPlain = options.pieceSize === undefined && size === FULL;
  const ways: RestoreOptions[] = [{}, more];
  if (trials({ few: 1, all: 2 }) === 1) ways.splice(isPlain ? 1 : 0, 1);

  test.each(ways)(`restoring ${name} takes up to 320 MB, with the options %o`, async (how) => {
    const origin = await originOf({ "/a.vhs": snapshot });
    const outcome = await run({
      call: "restoreSnapshot",
      source: origin.url("/a.vhs").href,
      target: path("restored"),
      options: { ...how, workers: 2 },
    });
    rmSync(path("restored"), { force: true });
    expect(outcome).toMatchObject({ error: null, started: 2, running: 0 });
    expect(outcome.peakMemory).toBeGreaterThan(30e6);
    expect(outcome.peakMemory).toBeLessThanOrEqual(LIMIT);
    await expectNoConnections(origin);
  });

  test(`verifying ${name} takes up to 320 MB`, async () => {
    const origin = await originOf({ "/a.vhs": snapshot });
    const outcome = await run({
      call: "verifySnapshot",
      source: origin.url("/a.vhs").href,
      target: path("none"),
      options: { workers: 2 },
    });
    expect(outcome).toMatchObject({ error: null, started: 2, running: 0 });
    expect(outcome.peakMemory).toBeLessThanOrEqual(LIMIT);
  });
});
