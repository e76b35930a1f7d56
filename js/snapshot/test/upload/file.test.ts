/** Snapshots that are written to a file, and options that are refused. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type CreateOptions, createSnapshot, SnapshotError } from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { leftovers } from "../../../../tests/support/snapshots/folder.js";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { refusalOf } from "../support/refusal.js";
import { empty, expected, path, small } from "../support/upload.js";

test("keeps an existing file with overwrite: false", async () => {
  const target = path("files", "kept.vhs");
  mkdirSync(path("files"));
  await createSnapshot(small, target, { overwrite: false });
  expectSame(readFileSync(target), expected.get(small)!);
  expect(statSync(target)).toMatchObject({ nlink: 1, mode: 0o100600 });
  const error = await refusalOf(createSnapshot(empty, target, { overwrite: false }), "ERR_TARGET");
  expect(error.message).toBe(`${target} already exists; pass overwrite: true to replace it`);
  expectSame(readFileSync(target), expected.get(small)!);
  expect(leftovers(path("files"))).toEqual([]);
});

test("keeps a file that appears while the snapshot is written", async () => {
  const target = path("meanwhile.vhs");
  const onProgress = () => {
    if (!existsSync(target)) writeFileSync(target, "another's");
  };
  const work = createSnapshot(small, target, { overwrite: false, onProgress });
  await refusalOf(work, "ERR_TARGET");
  expect(readFileSync(target, "utf8")).toBe("another's");
  expect(leftovers(path())).toEqual([]);
});

test("refuses options out of range", async () => {
  for (const options of [{ overwrite: 1 }, { partSize: 1 }, { retries: -1 }]) {
    const work = createSnapshot(small, path("x"), options as CreateOptions);
    expect(await rejectionOf(work)).toBeInstanceOf(SnapshotError);
    await refusalOf(work, "ERR_ARGUMENT");
  }
});
