/** Options and arguments of deltas. */
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import {
  type CreateOptions,
  createSnapshot,
  inspectSnapshot,
  restoreSnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";
import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { openCache } from "../support/cache.js";
import { refusalOf } from "../support/refusal.js";
import { originOf } from "../support/remote.js";

const [KIB, MIB] = [2 ** 10, 2 ** 20];

const path = temporaryFolder();
const [image, base, delta, made] = [path("image"), path("a.vhs"), path("b.vhs"), path("made.vhs")];
const bytes = noise("base", MIB);

let digest: string;

beforeAll(async () => {
  writeFileSync(image, bytes);
  ({ digest } = await createSnapshot(image, base, { workers: 1, pieceSize: 64 * KIB }));
  noise("changed", 3 * KIB).copy(bytes, 100 * KIB);
  writeFileSync(image, bytes);
  await createSnapshot(image, delta, { workers: 1, base });
});

test.each([{ baseDigest: "0".repeat(64) }, { changed: [] }, { resolve: () => undefined }])(
  "rejects %o without a base",
  async (options) => {
    const wrong = options as CreateOptions;
    const { message } = await refusalOf(createSnapshot(image, made, wrong), "ERR_ARGUMENT");
    const [name] = Object.keys(options);
    expect(message).toBe(`${name}: expected the option base with it, found none`);
  },
);

test("rejects a piece size other than that of the base", async () => {
  const options = { base, pieceSize: 128 * KIB };
  const { message } = await refusalOf(createSnapshot(image, made, options), "ERR_ARGUMENT");
  expect(message).toMatch(/^pieceSize: .*expected /);
  expect(leftovers(path())).toEqual([]);
});

test.each([
  { pieceSize: 64 * KIB },
  { level: 19 },
  { changed: [] },
  { changed: new Set([{ start: 0, end: Number.MAX_SAFE_INTEGER }]) },
  { changed: [{ start: 7, end: 7 }] },
])("accepts %o", async (options) => {
  const info = await createSnapshot(image, made, { base, workers: 1, ...options });
  expect(info).toMatchObject({ pieceSize: 64 * KIB, delta: { level: options.level ?? 3 } });
});

test("sorts and joins the ranges in changed, and widens them to blocks", async () => {
  const options = { base, workers: 1 };
  const [one, other] = [path("one.vhs"), path("other.vhs")];
  await createSnapshot(image, one, { ...options, changed: [{ start: 98_304, end: 110_592 }] });
  const changed = [
    { start: 106_000, end: 106_500 },
    { start: 100_000, end: 105_000 },
    { start: 102_000, end: 103_000 },
    { start: 102_399, end: 102_400 },
    { start: 2 ** 40, end: 2 ** 41 },
    { start: 5, end: 5 },
    { start: 107_000, end: 107_001 },
  ];
  await createSnapshot(image, other, { ...options, changed });
  expectSame(readFileSync(other), readFileSync(one));
});

test("stores what follows the end of the base, although changed does not name it", async () => {
  const [longer, grown, restored] = [path("longer"), path("grown.vhs"), path("restored-grown")];
  writeFileSync(longer, Buffer.concat([bytes, noise("growth", 10_000)]));
  const changed = [{ start: 100 * KIB, end: 103 * KIB }];
  await createSnapshot(longer, grown, { base, workers: 1, changed });
  await restoreSnapshot(grown, restored, { workers: 1 });
  expectSame(readFileSync(restored), readFileSync(longer));
});

test("rejects a base of another digest than baseDigest", async () => {
  const options = { base, baseDigest: "0".repeat(64) };
  await refusalOf(createSnapshot(image, made, options), "ERR_SNAPSHOT_DIGEST");
  const cache = await openCache(path("cache"));
  await refusalOf(createSnapshot(image, made, { ...options, cache }), "ERR_SNAPSHOT_DIGEST");
  const pinned = { base, baseDigest: digest.toUpperCase(), workers: 1 };
  await createSnapshot(image, path("pinned.vhs"), pinned);
});

test("rejects a base that is missing, or no snapshot", async () => {
  await refusalOf(createSnapshot(image, made, { base: path("none") }), "ERR_SOURCE");
  await refusalOf(createSnapshot(image, made, { base: image }), "ERR_SNAPSHOT_FORMAT");
});

test("rejects the base and its base objects as the destination", async () => {
  symlinkSync(base, path("link.vhs"));
  const before = [readFileSync(base), readFileSync(delta)] as const;
  for (const destination of [base, path("link.vhs"), `file://${base}`])
    await refusalOf(createSnapshot(image, destination, { base }), "ERR_ARGUMENT");
  for (const destination of [base, delta])
    await refusalOf(createSnapshot(image, destination, { base: delta }), "ERR_ARGUMENT");
  expectSame(readFileSync(base), before[0]);
  expectSame(readFileSync(delta), before[1]);

  const origin = await originOf({ "/a.vhs": base, "/b.vhs": delta });
  const at = (name: string) => origin.url(name);
  await refusalOf(createSnapshot(image, at("/a.vhs#x"), { base: at("/a.vhs") }), "ERR_ARGUMENT");
  await refusalOf(createSnapshot(image, at("/a.vhs"), { base: at("/b.vhs") }), "ERR_ARGUMENT");
  expect(origin.bytesReceived).toBe(0);
});

test("rejects the image as the destination", async () => {
  await refusalOf(createSnapshot(image, image, { base }), "ERR_ARGUMENT");
  expectSame(readFileSync(image), bytes);
});

test("says what the delta consists of", async () => {
  const info = await createSnapshot(image, made, { base, workers: 1 });
  const { fileSize } = await inspectSnapshot(base);
  const [object] = info.delta!.objects;
  expect(object).toEqual({
    ...{ digest, size: fileSize, reference: "a.vhs" },
    usedBytes: info.delta!.sharedBytes,
  });
  expect(info).toMatchObject({
    ...{ detection: "digests", changedBytes: 4 * KIB, rewrittenBytes: 0 },
    delta: { depth: 1, level: 3 },
  });
  expect(info.fileSize).toBeLessThan(6 * KIB);
});

test.each([
  [0, 0],
  [0, 5000],
  [5000, 0],
  [5000, 5000],
])("creates a delta of %i bytes against %i bytes", async (size, baseSize) => {
  const [one, other] = [path("one"), path("other")];
  writeFileSync(one, noise("one", size));
  writeFileSync(other, noise("other", baseSize));
  await createSnapshot(other, path("other.vhs"), { workers: 1 });
  const options = { base: path("other.vhs"), workers: 1 };
  const info = await createSnapshot(one, path("one.vhs"), options);
  expect(info).toMatchObject({ imageSize: size, changedBytes: size });
  await restoreSnapshot(path("one.vhs"), path("restored"), { workers: 1 });
  expectSame(readFileSync(path("restored")), readFileSync(one));
});
