/** The same image and options produce the same file. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { bytesOnDisk, expectSame, letters, noise } from "../../../tests/support/snapshots/image.js";
import { run } from "./support/job.js";
import { roundTripIn } from "./support/round-trip.js";

const KIB = 2 ** 10;
const MIB = 2 ** 20;

const path = temporaryFolder();
const roundTrip = roundTripIn(path);

// No hole starts or ends at the edge of a piece.
const bytes = Buffer.concat([
  letters("first", 3 * MIB + 12 * KIB),
  Buffer.alloc(3 * MIB + 200 * KIB),
  noise("last", 2 * MIB + 9),
]);

test("writes the same file with any number of threads", async () => {
  const files = [];
  for (const workers of [1, 2, 5]) files.push((await roundTrip(bytes, { workers })).file);
  expectSame(files[1]!, files[0]!);
  expectSame(files[2]!, files[0]!);
});

test("writes the same file for holes and for zeros", async () => {
  const { file } = await roundTrip(bytes);
  const [full, sparse] = [path("image"), path("with holes")];
  execFileSync("cp", ["--sparse=always", full, sparse]);
  expect(bytesOnDisk(sparse)).toBeLessThan(bytesOnDisk(full));
  await createSnapshot(sparse, path("other.vhs"));
  expectSame(readFileSync(path("other.vhs")), file);
});

test("writes the same file if the system cannot report holes", async () => {
  const { file } = await roundTrip(bytes);
  const [source, target] = [path("with holes"), path("all read.vhs")];
  execFileSync("cp", ["--sparse=always", path("image"), source]);
  const job = { call: "createSnapshot", source, target } as const;
  expect(await run(job, { preload: "no-extents" })).toMatchObject({ error: null });
  expectSame(readFileSync(target), file);
});

test("writes a different file for a different piece size or level", async () => {
  const { file, digest } = await roundTrip(bytes);
  for (const options of [{ level: 4 }, { pieceSize: 512 * KIB }]) {
    const other = await roundTrip(bytes, options);
    expect(other.digest).not.toBe(digest);
    expect(other.file.equals(file)).toBe(false);
  }
});
