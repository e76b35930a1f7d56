/** Options of `createSnapshot`, at their limits. `arguments.test.ts` goes beyond them. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";
import { leftovers, temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { expectSame, letters } from "../../../tests/support/snapshots/image.js";
import { refusalOf } from "./support/refusal.js";
import { roundTripIn } from "./support/round-trip.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;

const path = temporaryFolder();
const roundTrip = roundTripIn(path);

const image = path("options");
const bytes = letters("options", 100 * KIB);
beforeAll(() => writeFileSync(image, bytes));

test.each([
  { level: 1 },
  { level: 19 },
  { pieceSize: 4 * KIB },
  { pieceSize: 16 * MIB },
  { workers: 1 },
  { workers: 256 },
])("accepts %j", async (options) => {
  await roundTrip(bytes, options);
});

test("keeps an existing file with overwrite: false", async () => {
  const target = path("files", "kept.vhs");
  mkdirSync(path("files"));
  await createSnapshot(image, path("expected.vhs"));
  const expected = readFileSync(path("expected.vhs"));
  writeFileSync(path("other"), "");
  await createSnapshot(image, target, { overwrite: false });
  expectSame(readFileSync(target), expected);
  expect(statSync(target)).toMatchObject({ nlink: 1, mode: 0o100600 });
  const error = await refusalOf(
    createSnapshot(path("other"), target, { overwrite: false }),
    "ERR_TARGET",
  );
  expect(error.message).toBe(`${target} already exists; pass overwrite: true to replace it`);
  expectSame(readFileSync(target), expected);
  expect(leftovers(path("files"))).toEqual([]);
});

test("keeps a file that appears while the snapshot is written", async () => {
  const target = path("meanwhile.vhs");
  const onProgress = () => {
    if (!existsSync(target)) writeFileSync(target, "another's");
  };
  const work = createSnapshot(image, target, { overwrite: false, onProgress });
  await refusalOf(work, "ERR_TARGET");
  expect(readFileSync(target, "utf8")).toBe("another's");
  expect(leftovers(path())).toEqual([]);
});

test("writes a piece of 16 MiB as one frame", async () => {
  const info = await roundTrip(letters("large", 17 * MIB), { pieceSize: 16 * MIB });
  expect(info).toMatchObject({ dataFrames: 2, pieceSize: 16 * MIB });
});

test("rejects a piece size that is not a power of two", async () => {
  const error = await refusalOf(
    createSnapshot(image, path("no.vhs"), { pieceSize: 12_288 }),
    "ERR_ARGUMENT",
  );
  expect(error.message).toMatch(/^piece ?size: expected .*, found /i);
  expect(leftovers(path())).toEqual([]);
});
