/** Deltas that are interrupted, and images that change meanwhile. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createSnapshot, type Progress, restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test, vi } from "vitest";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, letters } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { openCache } from "../support/cache.js";
import { killAfter, run } from "../support/job.js";
import { refusalOf } from "../support/refusal.js";

const MIB = 2 ** 20;
const OLD = "what was there before";

const path = temporaryFolder();
const [image, base, delta] = [path("image"), path("base.vhs"), path("made", "delta.vhs")];
const bytes = letters("base", 3 * MIB);

beforeAll(async () => {
  for (const name of ["made", "tmp"]) mkdirSync(path(name));
  vi.stubEnv("TMPDIR", path("tmp"));
  writeFileSync(image, bytes);
  await createSnapshot(image, base, { workers: 1, pieceSize: MIB / 4 });
  letters("changed", MIB + 5).copy(bytes, MIB + 1);
  writeFileSync(image, bytes);
});

/** Checks that the destination is as it was, and that nothing else is there. */
function expectNothing(): void {
  expect(readFileSync(delta, "utf8")).toBe(OLD);
  expect(leftovers(path("made"))).toEqual([]);
  expect(readdirSync(path("tmp"))).toEqual([]);
}

test("reports the comparison, the restore and the creation as phases, none of which goes back", async () => {
  const reports: Progress[] = [];
  await createSnapshot(image, path("whole.vhs"), {
    ...{ base, workers: 1 },
    onProgress: (progress) => void reports.push(progress),
  });
  expect([...new Set(reports.map(({ phase }) => phase))]).toEqual(["compare", "restore", "create"]);
  for (const phase of ["compare", "restore", "create"]) {
    const own = reports.filter((progress) => progress.phase === phase);
    for (const [at, { bytes, totalBytes }] of own.entries()) {
      expect(bytes).toBeGreaterThanOrEqual(own[at - 1]?.bytes ?? 0);
      expect(totalBytes).toBe(own[0]!.totalBytes);
    }
    expect(own.at(-1)!.bytes).toBe(own.at(-1)!.totalBytes);
  }
  await restoreSnapshot(path("whole.vhs"), path("restored"), { workers: 1 });
  expectSame(readFileSync(path("restored")), bytes);
});

test.each(["compare", "restore", "create"])("an abort during %s leaves nothing", async (phase) => {
  writeFileSync(delta, OLD);
  const [controller, reason] = [new AbortController(), new Error("the caller's own")];
  const onProgress = (progress: Progress) => {
    if (progress.phase === phase) controller.abort(reason);
  };
  // The last report of each phase comes at its end.
  const options = { base, signal: controller.signal, onProgress, workers: 1, level: 9 };
  expect(await rejectionOf(createSnapshot(image, delta, options))).toBe(reason);
  expectNothing();
});

test.each(["compare", "restore", "create"])(
  "an error of onProgress during %s leaves nothing",
  async (phase) => {
    writeFileSync(delta, OLD);
    const reason = new Error("the caller's own");
    const onProgress = (progress: Progress) => {
      if (progress.phase === phase) throw reason;
    };
    const options = { base, onProgress, workers: 1 };
    expect(await rejectionOf(createSnapshot(image, delta, options))).toBe(reason);
    expectNothing();
  },
);

test.each([{}, { changed: [{ start: 0, end: MIB }] }])(
  "an image that changes meanwhile makes no delta, with %o",
  async (options) => {
    writeFileSync(delta, OLD);
    let isFirst = true;
    const onProgress = () => {
      if (isFirst) appendFileSync(image, "x");
      isFirst = false;
    };
    const work = createSnapshot(image, delta, { base, onProgress, workers: 1, ...options });
    await refusalOf(work, "ERR_IMAGE_CHANGED");
    writeFileSync(image, bytes);
    expectNothing();
  },
);

test("an abort ends the lease of the cached base", async () => {
  writeFileSync(delta, OLD);
  const cache = await openCache(path("cache"));
  await (await cache.get(base)).release();
  const controller = new AbortController();
  const onProgress = () => controller.abort();
  const options = { base, cache, signal: controller.signal, onProgress, workers: 1 };
  await rejectionOf(createSnapshot(image, delta, options));
  expect((await cache.stats()).leases).toBe(0);
  await createSnapshot(image, path("cached.vhs"), { base, cache, workers: 1 });
  expect((await cache.stats()).leases).toBe(0);
  expectNothing();
});

test.each([
  ["createSnapshot", image, { base, workers: 1 }],
  ["flattenSnapshot", path("killed.vhs"), { workers: 1 }],
] as const)(
  "a kill of %s leaves the old file, or the complete one",
  // Each round starts a process.
  minutes({ all: 2 }),
  async (call, source, options) => {
    await createSnapshot(image, path("killed.vhs"), { base, workers: 1 });
    writeFileSync(delta, OLD);
    const job = { call, source, target: delta };
    const usual = await run({ ...job, options, target: path("made", `${call}.vhs`) });
    expect(usual.error).toBeNull();
    const whole = readFileSync(path("made", `${call}.vhs`));
    const rounds = trials({ few: 3, all: 30 });
    for (let round = 0; round < rounds; round += 1) {
      writeFileSync(delta, OLD);
      await killAfter((usual.duration * round) / rounds, { ...job, options });
      const found = readFileSync(delta);
      if (found.toString() !== OLD) expectSame(found, whole);
    }
  },
);
