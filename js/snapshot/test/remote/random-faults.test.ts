/** Faults of all kinds at once, at random, the same in every run. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createSnapshot, restoreSnapshot, SnapshotError } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { type FaultKind, randomFaults } from "../../../../tests/origin/fault.mjs";
import { startOrigin } from "../../../../tests/origin/origin.mjs";
import { seededRandom } from "../../../../tests/origin/random.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, letters, noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { expectNoConnections, SOON } from "../support/remote.js";

const RUNS = trials({ few: 25, all: 200 });
/** Most of the time is spent waiting. */
const AT_A_TIME = 5;

const KINDS: readonly FaultKind[] = [
  ...(["cut", "reset", "stall", "short", "flip", "late"] as const),
  ...(["silent", "shifted", "whole", "error", "busy", "throttled"] as const),
];

/** Faults that a server may be rid of the next time. A size that is another one is of another file. */
const MENDED = KINDS.filter((kind) => kind !== "shifted");

const path = temporaryFolder();

/** Data, a hole, and data. */
const image = Buffer.concat([
  noise("first", 2 ** 20),
  Buffer.alloc(2 ** 20),
  letters("second", 2 ** 20 + 17),
  noise("last", 2 ** 20),
]);
let file: Buffer;

beforeAll(async () => {
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("image.vhs"), { pieceSize: 2 ** 16 });
  file = readFileSync(path("image.vhs"));
});

/** How a run ended: with all bytes, or with an error of this package. */
async function run(seed: number): Promise<"whole" | SnapshotError> {
  const random = seededRandom(seed);
  const [share, kinds] = [0.05 + random() * 0.4, seed % 2 === 0 ? KINDS : MENDED];
  const options = {
    workers: 1 + Math.floor(random() * 3),
    connections: 1 + Math.floor(random() * 8),
    partSize: 2 ** (16 + Math.floor(random() * 3)),
    timeouts: SOON,
    retries: Math.floor(random() * 8),
  };
  mkdirSync(path(`${seed}`));
  const restored = path(`${seed}`, "restored");
  const origin = await startOrigin({ files: { "/a.vhs": file } });
  origin.faults = randomFaults(random, { share, kinds });
  try {
    await restoreSnapshot(origin.url("/a.vhs"), restored, options);
    expectSame(readFileSync(restored), image);
    expect(readdirSync(path(`${seed}`))).toEqual(["restored"]);
    return "whole";
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

test(`in ${RUNS} runs, no byte is wrong, and nothing is left`, async () => {
  let [whole, next] = [0, 1];
  const work = async () => {
    while (next <= RUNS) {
      const seed = next;
      next += 1;
      const ending = await run(seed).catch((cause: unknown) => {
        throw new Error(`seed ${seed}: ${cause}`, { cause });
      });
      if (ending === "whole") {
        whole += 1;
      } else {
        const codes = ["ERR_SOURCE", "ERR_SOURCE_CHANGED", "ERR_SNAPSHOT_FORMAT"];
        expect(codes, `seed ${seed}: ${ending.message}`).toContain(ending.code);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  // Both must happen.
  expect(whole).toBeGreaterThan(RUNS / 4);
  expect(whole).toBeLessThan(RUNS);
}, 300_000);
