/** Wrong arguments and options of readers, and sources that do not keep their promises. */
import { type RandomAccess, SnapshotReader } from "@hedgerow/snapshot/reader";
import { beforeAll, expect, test } from "vitest";
import { thrownBy } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { textsIn } from "../support/error-texts.js";
import { blobOf, makeSample, type Sample } from "../support/reader-samples.js";
import { refusalOf } from "../support/refusal.js";

const SECRET = "5ec2e7aa";
const path = temporaryFolder();

let full: Sample;

beforeAll(async () => {
  full = await makeSample(path, [noise("a", 9000)], 4096);
});

const fail = () => {
  throw new Error("a caller's own");
};

test.each([
  ...[null, undefined, 1, Symbol("a"), [], {}, "a.vhs", "ftp://a/b", "http://", "data:,a"],
  `https://user:${SECRET}@disks.example/a`,
  ...[
    { name: "a", size: -1, read: fail },
    { size: 1, read: fail },
    { name: "a", size: 1 },
  ],
])("a source that is none is refused: %#", async (source) => {
  const error = await refusalOf(SnapshotReader.open(source as unknown as Blob), "ERR_ARGUMENT");
  expect(textsIn(error)).not.toContain(SECRET);
});

test("wrong options and numbers are refused", async () => {
  const [blob] = blobOf(full);
  const reader = await SnapshotReader.open(blob);
  const options = [null, 1, [], { signal: {} }, { signal: null }, { workers: 1 }];
  const opening = [{ digest: "a" }, { resolve: 1 }, { resolve: null }, { fetch: {} }];
  const numbers = [-1, 0.5, Number.NaN, "0", null, 1n, full.image.length + 1];
  for (const call of [
    ...[...options, ...opening].map((wrong) => () => SnapshotReader.open(blob, wrong as object)),
    ...options.map((wrong) => () => reader.read(0, 1, wrong as object)),
    ...[...options, { onFrame: 1 }].map((wrong) => () => reader.verify(wrong as object)),
    ...numbers.map((wrong) => () => reader.read(wrong as number, 0)),
    ...numbers.map((wrong) => () => reader.read(0, wrong as number)),
  ]) {
    await refusalOf(call(), "ERR_ARGUMENT");
  }
  for (const wrong of [...numbers, reader.frameCount]) {
    expect(thrownBy(() => reader.frame(wrong as number))).toMatchObject({ code: "ERR_ARGUMENT" });
  }
  const digest = "0".repeat(64);
  await refusalOf(SnapshotReader.open(blob, { digest }), "ERR_SNAPSHOT_DIGEST");
});

test.each([
  ...[fail, () => Promise.reject(new Error("lost")), () => 1, () => undefined],
  ...[async () => new Uint8Array(1), async () => "text"],
])("a source that does not return its bytes is an error: %#", async (read) => {
  const source = { name: "mine", size: full.file.length, read } as unknown as RandomAccess;
  const error = await refusalOf(SnapshotReader.open(source), "ERR_SOURCE");
  expect(error.message).toContain("cannot read mine");
});
