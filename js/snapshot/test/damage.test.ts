/** Damaged snapshots, and files that are not snapshots. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import {
  createSnapshot,
  inspectSnapshot,
  restoreSnapshot,
  SnapshotError,
  type SnapshotInfo,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test } from "vitest";

import { leftovers, temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { letters, noise, steps } from "../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../tests/support/trials.js";
import { refusalOf } from "./support/refusal.js";

const OLD = "what was there before";

/** How many bits of a byte are flipped, the first of which differs from byte to byte, and the distance of the bytes. */
const [BITS, STRIDE] = [trials({ few: 1, all: 8 }), trials({ few: 5, all: 1 })];

const path = temporaryFolder();

/** Data, a hole, and data. */
const image = Buffer.concat([Buffer.alloc(2 ** 12, "a"), Buffer.alloc(2 ** 16), Buffer.from("b")]);

let whole: Buffer;
let info: SnapshotInfo;

beforeAll(async () => {
  writeFileSync(path("image"), image);
  info = await createSnapshot(path("image"), path("whole.vhs"));
  whole = readFileSync(path("whole.vhs"));
});

test("the sample snapshot is small and has frames of both kinds", () => {
  expect(info).toMatchObject({ dataFrames: 2, holeFrames: 1 });
  expect(whole.length).toBeLessThan(500);
});

/** Checks that an error names the invalid field and its offset in the file. */
function expectFormatError(error: unknown, fileSize: number): void {
  if (!(error instanceof SnapshotError)) throw error;
  expect(error.code).toBe("ERR_SNAPSHOT_FORMAT");
  expect(error.field).toMatch(/./);
  expect(error.offset).toBeGreaterThanOrEqual(0);
  expect(error.offset).toBeLessThanOrEqual(fileSize);
  expect(error.message).toContain(error.field);
}

/** The outcome of reading a damaged snapshot. */
type Outcome = "refused" | "correct";

async function outcomeOf(promise: Promise<unknown>, fileSize: number): Promise<Outcome> {
  try {
    await promise;
    return "correct";
  } catch (error) {
    expectFormatError(error, fileSize);
    return "refused";
  }
}

/** Restores a damaged snapshot over an existing file. Only one caller may use `place` at a time. */
async function restore(damaged: Buffer, place: string): Promise<Outcome> {
  const [snapshot, target] = [path(`${place}.vhs`), path(place)];
  writeFileSync(snapshot, damaged);
  writeFileSync(target, OLD);
  const restored = restoreSnapshot(snapshot, target, { workers: 1 });
  const outcome = await outcomeOf(restored, damaged.length);
  const found = readFileSync(target);
  if (!found.equals(outcome === "correct" ? image : Buffer.from(OLD))) {
    throw new Error(`the restore was ${outcome} and left ${found.length} wrong bytes`);
  }
  return outcome;
}

/** Verifies a damaged snapshot. */
function verify(damaged: Buffer, place: string): Promise<Outcome> {
  writeFileSync(path(`${place}.vhs`), damaged);
  return outcomeOf(verifySnapshot(path(`${place}.vhs`), { workers: 1 }), damaged.length);
}

/** Calls `action` for each of `items`, a few at a time, with a place that no other call is using. */
async function forEach<T>(
  items: Iterable<T>,
  action: (item: T, place: string) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const work = async (place: string) => {
    for (let next = queue.next(); !next.done; next = queue.next()) await action(next.value, place);
  };
  const places = Array.from({ length: 2 * availableParallelism() }, (_, index) => `place-${index}`);
  await Promise.all(places.map(work));
}

/** Each of thousands of flipped bits starts a worker, or two. */
const FLIPS_LIMIT = minutes({ all: 4 });

describe("damage", () => {
  test("refuses a snapshot that is truncated at any length", async () => {
    await forEach(whole.keys(), async (length, place) => {
      const damaged = whole.subarray(0, length);
      expect(await restore(damaged, place), `${length} bytes`).toBe("refused");
      expect(await verify(damaged, place), `${length} bytes`).toBe("refused");
    });
    expect(leftovers(path())).toEqual([]);
  });

  test("refuses a snapshot with trailing bytes", async () => {
    for (const more of [1, 9, whole.length]) {
      const damaged = Buffer.concat([whole, whole.subarray(-more)]);
      expect(await restore(damaged, "longer"), `${more} bytes`).toBe("refused");
      expect(await verify(damaged, "longer"), `${more} bytes`).toBe("refused");
    }
  });

  test(
    `finds every flipped bit (${BITS} of one byte in ${STRIDE}) when verifying, and never restores a wrong image`,
    FLIPS_LIMIT,
    async () => {
      const outcomes: Record<Outcome, number> = { refused: 0, correct: 0 };
      const flips = Array.from(steps(BITS * whole.length, 1)).filter(
        (flip) => Math.floor(flip / BITS) % STRIDE === 0,
      );
      await forEach(flips, async (flip, place) => {
        const [byte, turn] = [Math.floor(flip / BITS), flip % BITS];
        const number = (byte + turn) & 7;
        const damaged = Buffer.from(whole);
        damaged[byte]! ^= 1 << number;
        const restored = await restore(damaged, place);
        outcomes[restored] += 1;
        // Where the restore fails, verify one bit of each byte only, to save time.
        if (restored === "refused" && turn > 0) return;
        expect(await verify(damaged, place), `bit ${number} of byte ${byte}`).toBe("refused");
      });
      // Both occur: data is checked, and a restore does not read everything.
      expect(outcomes.refused).toBeGreaterThan((BITS * 200) / STRIDE);
      expect(outcomes.correct).toBeGreaterThan(0);
      expect(leftovers(path())).toEqual([]);
    },
  );
});

describe("files that are not snapshots", () => {
  const zstd = (bytes: Buffer) => execFileSync("zstd", ["-c"], { input: bytes, stdio: "pipe" });

  /** Returns a zstd file with a seek table and without a manifest. */
  function seekable(bytes: Buffer): Buffer {
    const frame = zstd(bytes);
    const table = Buffer.alloc(8 + 8 + 9);
    table.writeUInt32LE(0x184d2a5e, 0);
    table.writeUInt32LE(8 + 9, 4);
    table.writeUInt32LE(frame.length, 8);
    table.writeUInt32LE(bytes.length, 12);
    table.writeUInt32LE(1, 16);
    table.writeUInt32LE(0x8f92eab1, 21);
    return Buffer.concat([frame, table]);
  }

  const files: Record<string, () => Buffer> = {
    "an empty file": () => Buffer.alloc(0),
    "one byte": () => Buffer.alloc(1),
    zeros: () => Buffer.alloc(100_000),
    text: () => letters("text", 100_000),
    noise: () => noise("noise", 100_000),
    "a JPEG": () => Buffer.concat([Buffer.from("ffd8ffe000104a464946", "hex"), noise("jpeg", 999)]),
    "a zstd file": () => zstd(letters("zstd", 100_000)),
    "a seekable zstd file": () => seekable(letters("seekable", 100_000)),
    "a seekable zstd file of nothing": () => seekable(Buffer.alloc(0)),
    "the seek table of a snapshot alone": () => whole.subarray(-(5 * 8 + 9 + 8)),
    "a snapshot after other bytes": () => Buffer.concat([noise("before", 64), whole]),
    "an image": () => image,
  };

  test.each(Object.keys(files))("refuses %s, and leaves the target as it was", async (name) => {
    const bytes = files[name]!();
    writeFileSync(path("none.vhs"), bytes);
    writeFileSync(path("target"), OLD);
    const onProgress = () => expect.unreachable();
    for (const read of [
      () => restoreSnapshot(path("none.vhs"), path("target"), { onProgress }),
      () => restoreSnapshot(path("none.vhs"), path("new"), { onProgress }),
      () => inspectSnapshot(path("none.vhs")),
      () => verifySnapshot(path("none.vhs"), { onProgress }),
    ]) {
      expectFormatError(await refusalOf(read(), "ERR_SNAPSHOT_FORMAT"), bytes.length);
    }
    expect(readFileSync(path("target"), "utf8")).toBe(OLD);
    expect(existsSync(path("new"))).toBe(false);
    expect(leftovers(path())).toEqual([]);
  });
});

test("reports the version of a later format, whatever else is in the file", async () => {
  const later = Buffer.concat([whole.subarray(0, 32), noise("later", 57)]);
  later.writeUInt16LE(3, 16);
  writeFileSync(path("later.vhs"), later);
  const error = await refusalOf(inspectSnapshot(path("later.vhs")), "ERR_SNAPSHOT_FORMAT");
  expect(error).toMatchObject({ field: "version in the header", offset: 16 });
  expect(error.message).toContain("expected 1 to 2, found 3");
});

describe("a pinned digest", () => {
  const readers: Record<string, (digest: string) => Promise<unknown>> = {
    restoreSnapshot: (digest) => restoreSnapshot(path("whole.vhs"), path("pinned"), { digest }),
    inspectSnapshot: (digest) => inspectSnapshot(path("whole.vhs"), { digest }),
    verifySnapshot: (digest) => verifySnapshot(path("whole.vhs"), { digest }),
  };

  test.each(Object.entries(readers))("%s refuses a snapshot of another digest", async (_, read) => {
    await read(info.digest);
    await read(info.digest.toUpperCase());
    writeFileSync(path("pinned"), OLD);

    const other = info.digest.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    const error = await refusalOf(read(other), "ERR_SNAPSHOT_DIGEST");
    expect(error.message).toContain(other);
    expect(error.message).toContain(info.digest);

    for (const malformed of ["", "ab", `${info.digest}0`, info.digest.replace(/^./, "g"), 5]) {
      await refusalOf(read(malformed as string), "ERR_ARGUMENT");
    }
    expect(readFileSync(path("pinned"), "utf8")).toBe(OLD);
    expect(leftovers(path())).toEqual([]);
  });
});
