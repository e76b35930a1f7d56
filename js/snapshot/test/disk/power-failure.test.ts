/**
 * The order in which disks write and sync their files: whatever a power failure leaves of them, flushed data is there,
 * and nothing else than data of the snapshot and of writes.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSnapshot, type Disk, openSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { crashState } from "../support/crash-states.js";
import { failSystem } from "../support/fail-system.js";
import { contentOf, SECTOR } from "../support/power-content.mjs";
import { parseRecord, recorded, type SystemCall } from "../support/system-calls.js";

const WORKLOAD = fileURLToPath(new URL("../support/power-workload.mjs", import.meta.url));
const [SEEDS, STATES] = [trials({ few: 1, all: 4 }), trials({ few: 8, all: 50 })];
const STEPS = 60;
/** How often a state is also saved. */
const SAVE_EVERY = 2;

const path = temporaryFolder();
/** Data and holes. */
const image = Buffer.concat([
  ...[noise("power", 2 ** 19), Buffer.alloc(2 ** 18), noise("power2", 2 ** 17)],
  Buffer.alloc(2 ** 17),
]);
const SECTORS = image.length / SECTOR;

beforeAll(async () => {
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("a.vhs"), { pieceSize: 2 ** 16, workers: 1 });
});

/** An operation of the workload, and the lines of the record at which it began and was acknowledged. */
interface Operation {
  readonly step: number;
  readonly kind: string;
  readonly offset: number;
  readonly length: number;
  readonly begin: number;
  end: number;
}

/** The operations of a process on a disk, and their system calls. */
interface Recorded {
  readonly calls: readonly SystemCall[];
  readonly operations: readonly Operation[];
  readonly lines: number;
}

/** Records a process that uses a disk. */
function record(fill: "all" | "none", seed: number, steps = STEPS): Recorded {
  const folder = mkdtempSync(path("recorded-"));
  const options = { image: join(folder, "disk"), fill, workers: 1, trace: false };
  const job = JSON.stringify({ source: path("a.vhs"), options, seed, steps });
  const log = join(folder, "log");
  const [program, args] = recorded(log, [process.execPath, WORKLOAD, job]);
  execFileSync(program, args, { env: { ...process.env, UV_USE_IO_URING: "0" } });
  const text = readFileSync(log, "latin1");
  rmSync(folder, { recursive: true });
  const { calls, printed } = parseRecord(text);
  const operations = new Map<number, Operation>();
  for (const { line, at } of printed) {
    const [what, number, kind = "", offset, length] = line.split(" ");
    const step = Number(number);
    const known = operations.get(step);
    if (what === "end" && known !== undefined) known.end = at;
    else {
      const [begin, end] = [at, Number.POSITIVE_INFINITY];
      operations.set(step, {
        ...{ step, kind, begin, end, offset: Number(offset), length: Number(length) },
      });
    }
  }
  return { calls, operations: [...operations.values()], lines: text.split("\n").length };
}

/** Returns what each sector may hold: what was flushed, or else the snapshot, and all that was written later. */
function allowed({ operations }: Recorded, at: number): Buffer[][] {
  const flushes = operations.filter(({ kind, end }) => kind === "flush" && end < at);
  const sectors = Array.from({ length: SECTORS }, (_, sector) => [
    image.subarray(sector * SECTOR, (sector + 1) * SECTOR),
  ]);
  for (const { step, kind, offset, length, begin, end } of operations) {
    if ((kind !== "write" && kind !== "zero") || begin >= at) continue;
    const isFlushed = flushes.some((flush) => flush.begin > end);
    const [first, count] = [offset / SECTOR, length / SECTOR];
    const bytes = kind === "write" ? contentOf(step, first, count) : Buffer.alloc(length);
    for (let sector = first; sector < first + count; sector += 1) {
      const content = bytes.subarray((sector - first) * SECTOR, (sector - first + 1) * SECTOR);
      if (isFlushed) sectors[sector] = [content];
      else sectors[sector]?.push(content);
    }
  }
  return sectors;
}

/** Returns the sectors of a disk that hold what they must not. */
async function wrongSectors(disk: Disk, sectors: readonly Buffer[][]): Promise<number[]> {
  const found = await disk.read(0, disk.size);
  return sectors.flatMap((contents, sector) => {
    const bytes = found.subarray(sector * SECTOR, (sector + 1) * SECTOR);
    return contents.some((content) => content.equals(bytes)) ? [] : [sector];
  });
}

/** Opens what a power failure may leave, and calls `use` with the disk and the sectors that are wrong. */
async function fail(
  done: Recorded,
  seed: number,
  use: (disk: Disk, wrong: number[], folder: string) => Promise<void>,
  isIgnored?: (call: SystemCall) => boolean,
): Promise<void> {
  const random = seededRandom(seed);
  const at = Math.ceil(random() * done.lines);
  const folder = mkdtempSync(path("failed-"));
  for (const [name, bytes] of crashState(done.calls, at, random, isIgnored))
    writeFileSync(join(folder, basename(name)), bytes, { mode: 0o600 });
  const { calls } = done;
  const state = calls.find(({ path: name }) => name.endsWith(".state"))?.path ?? "";
  try {
    failSystem(join(folder, basename(state)));
  } catch {
    // The state file does not exist yet.
  }
  const options = { image: join(folder, "disk"), fill: "none", workers: 1, trace: false } as const;
  // It may be closed before anything has arrived.
  if (seed % 2 === 0) await (await openSnapshot(path("a.vhs"), options)).close();
  const disk = await openSnapshot(path("a.vhs"), options);
  try {
    await use(disk, await wrongSectors(disk, allowed(done, at)), folder);
  } finally {
    await disk.close();
    rmSync(folder, { recursive: true });
  }
}

const seeds = Array.from({ length: SEEDS }, (_, seed) => seed + 1);
const cases = seeds.flatMap((seed) => (["none", "all"] as const).map((fill) => ({ seed, fill })));

test.each(cases)(
  "a power failure leaves what was flushed, and never anything else: $fill, seed $seed",
  // Each state is opened, and half of them are saved and restored.
  minutes({ all: 5 }),
  async ({ seed, fill }) => {
    const done = record(fill, seed);
    expect(done.operations).toHaveLength(STEPS);
    for (let state = 0; state < STATES; state += 1) {
      await fail(done, 1000 * seed + state, async (disk, wrong, folder) => {
        expect(wrong, `state ${state}`).toEqual([]);
        if (state % SAVE_EVERY !== 0) return;
        const resolve = () => path("a.vhs");
        await disk.save(join(folder, "saved.vhs"), { resolve });
        const restored = join(folder, "restored");
        await restoreSnapshot(join(folder, "saved.vhs"), restored, { resolve, workers: 1 });
        expectSame(readFileSync(restored), await disk.read(0, disk.size));
      });
    }
  },
);

test("a power failure leaves a disk that opens, also if it was filled and never written to", async () => {
  const done = record("all", 1, 0);
  for (let state = 0; state < 40; state += 1)
    await fail(done, state, async (_disk, wrong) => expect(wrong, `state ${state}`).toEqual([]));
});

test.each([
  ["the image", (name: string) => name.endsWith(".disk")],
  ["the state file", (name: string) => name.endsWith(".state")],
])("a system that ignores the syncs of %s is noticed", async (_, isIgnored) => {
  const done = record("none", 1);
  let violations = 0;
  for (let state = 0; state < STATES && violations === 0; state += 1) {
    const count = async (_disk: Disk, wrong: number[]) => {
      violations += wrong.length;
    };
    await fail(done, state, count, (call) => isIgnored(call.path)).catch(() => {
      // A disk whose state file is torn is refused.
      violations += 1;
    });
  }
  expect(violations).toBeGreaterThan(0);
});
