/** Options at and beyond their limits. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import {
  type CreateOptions,
  createSnapshot,
  inspectSnapshot,
  type ReadOptions,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";
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

test.each([
  { level: 0 },
  { level: 20 },
  { level: -1 },
  { level: 2.5 },
  { level: Number.NaN },
  { level: 2 ** 40 },
  { level: "3" },
  { pieceSize: 0 },
  { pieceSize: 2 * KIB },
  { pieceSize: 12_345 },
  { pieceSize: 32 * MIB },
  { pieceSize: 2 ** 32 + 4096 },
  { pieceSize: -4096 },
  { pieceSize: Number.NaN },
  { overwrite: 1 },
  { partSize: 1 },
  { retries: -1 },
  { workers: 0 },
  { workers: 257 },
  { workers: 1.5 },
  { workers: -1 },
  { workers: Number.NaN },
  { workers: Number.POSITIVE_INFINITY },
  { workers: "2" },
  { signal: {} },
  { signal: null },
  { onProgress: "often" },
])("rejects %o", async (options) => {
  const wrong = options as CreateOptions;
  const [option] = Object.keys(options);
  const error = await refusalOf(createSnapshot(image, path("no.vhs"), wrong), "ERR_ARGUMENT");
  expect(error.message).toMatch(option === "pieceSize" ? /^piece ?size: /i : `${option}: `);
  if (typeof options.level === "number") {
    expect(error.message).toBe(
      `level: expected a whole number from 1 to 19, found ${options.level}`,
    );
  }
  expect(error.message).toMatch(/expected .*, found /);
  expect(leftovers(path())).toEqual([]);
  expect(() => statSync(path("no.vhs"))).toThrow("ENOENT");
});

test.each([null, "options", 3])("rejects %j as options", async (options) => {
  const wrong = options as CreateOptions & ReadOptions;
  await refusalOf(createSnapshot(image, path("no.vhs"), wrong), "ERR_ARGUMENT");
  await refusalOf(restoreSnapshot(path("no.vhs"), path("no"), wrong), "ERR_ARGUMENT");
  await refusalOf(inspectSnapshot(path("no.vhs"), wrong), "ERR_ARGUMENT");
});

test("rejects more than 256 workers when reading", async () => {
  await roundTrip(bytes);
  const options = { workers: 257 };
  const snapshot = path("snapshot.vhs");
  await refusalOf(restoreSnapshot(snapshot, path("no"), options), "ERR_ARGUMENT");
  await refusalOf(verifySnapshot(snapshot, options), "ERR_ARGUMENT");
});
