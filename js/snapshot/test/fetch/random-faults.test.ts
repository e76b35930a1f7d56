/** Random faults of all kinds at once. Seeds make them reproducible. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createSnapshot, restoreSnapshot, SnapshotError } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { type FaultKind, randomFaults } from "../../../../tests/origin/fault.mjs";
import { startOrigin } from "../../../../tests/origin/origin.mjs";
import { seededRandom } from "../../../../tests/origin/random.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, letters, noise } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { makeChain } from "../support/deltas.js";
import { expectNoConnections, SOON } from "../support/remote.js";

const RUNS = trials({ few: 8, all: 100 });
/** How many runs go on at a time: they mostly wait. */
const CONCURRENCY = 5;

const KINDS: readonly FaultKind[] = [
  ...(["cut", "reset", "stall", "short", "flip", "late"] as const),
  ...(["silent", "shifted", "whole", "error", "busy", "throttled"] as const),
];

/** Faults that a retry can mend. A response of another size belongs to another file. */
const TRANSIENT = KINDS.filter((kind) => kind !== "shifted");

const path = temporaryFolder();

/** Data, a hole, and data. */
const image = Buffer.concat([
  noise("first", 2 ** 20),
  Buffer.alloc(2 ** 20),
  letters("second", 2 ** 20 + 17),
  noise("last", 2 ** 20),
]);

/** Files on the server, of which `/a.vhs` is restored, and the image that this brings. */
interface Sample {
  readonly files: Readonly<Record<string, Buffer>>;
  readonly bytes: Buffer;
}

let [snapshot, delta]: [Sample?, Sample?] = [];

beforeAll(async () => {
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("image.vhs"), { pieceSize: 2 ** 16 });
  snapshot = { files: { "/a.vhs": readFileSync(path("image.vhs")) }, bytes: image };
  const chain = await makeChain(path);
  const files = Object.entries(chain.files).map(([name, bytes]) => [`/${name}`, bytes] as const);
  delta = { files: Object.fromEntries(files), bytes: chain.image };
});

/** Restores with the faults of a seed. Returns "complete", or the error of this package. */
async function run(seed: number, { files, bytes }: Sample): Promise<"complete" | SnapshotError> {
  const random = seededRandom(seed);
  const [share, kinds] = [0.05 + random() * 0.4, seed % 2 === 0 ? KINDS : TRANSIENT];
  const options = {
    workers: 1 + Math.floor(random() * 3),
    connections: 1 + Math.floor(random() * 8),
    partSize: 2 ** (16 + Math.floor(random() * 3)),
    timeouts: SOON,
    retries: Math.floor(random() * 8),
  };
  rmSync(path(`${seed}`), { recursive: true, force: true });
  mkdirSync(path(`${seed}`));
  const restored = path(`${seed}`, "restored");
  const origin = await startOrigin({ files });
  origin.faults = randomFaults(random, { share, kinds });
  try {
    await restoreSnapshot(origin.url("/a.vhs"), restored, options);
    expectSame(readFileSync(restored), bytes);
    expect(readdirSync(path(`${seed}`))).toEqual(["restored"]);
    return "complete";
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    expect(existsSync(restored)).toBe(false);
    expect(readdirSync(path(`${seed}`))).toEqual([]);
    return error;
  } finally {
    await expectNoConnections(origin);
    await origin.close();
  }
}

const samples = { snapshot: () => snapshot, delta: () => delta };

test.each(Object.entries(samples))(
  `restores every byte of a %s, or fails and leaves nothing, in ${RUNS} runs with random faults`,
  // Each run takes a fraction of a second.
  minutes({ all: 3 }),
  async (_, sampleOf) => {
    const sample = sampleOf();
    let [complete, next] = [0, 1];
    const work = async () => {
      while (next <= RUNS) {
        const seed = next;
        next += 1;
        const outcome = await run(seed, sample!).catch((cause: unknown) => {
          throw new Error(`seed ${seed}: ${cause}`, { cause });
        });
        if (outcome === "complete") {
          complete += 1;
        } else {
          // A wrong size is that of another base object.
          const codes = ["ERR_SOURCE", "ERR_SOURCE_CHANGED", "ERR_SNAPSHOT_FORMAT"];
          if (sample === delta) codes.push("ERR_SNAPSHOT_DIGEST");
          expect(codes, `seed ${seed}: ${outcome.message}`).toContain(outcome.code);
        }
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    // Both outcomes occur.
    expect(complete).toBeGreaterThan(RUNS / 4);
    expect(complete).toBeLessThan(RUNS);
  },
);
