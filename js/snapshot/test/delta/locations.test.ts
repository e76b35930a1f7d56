/** Deltas and their bases on servers. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test, vi } from "vitest";
import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { expectNothingLeft, originOf } from "../support/remote.js";

const [KIB, MIB] = [2 ** 10, 2 ** 20];

const path = temporaryFolder();
const [image, base, local] = [path("image"), path("base.vhs"), path("local.vhs")];
const bytes = noise("base", 24 * MIB);

beforeAll(async () => {
  mkdirSync(path("tmp"));
  vi.stubEnv("TMPDIR", path("tmp"));
  writeFileSync(image, bytes);
  await createSnapshot(image, base, { level: 1 });
  noise("changed", 3 * KIB).copy(bytes, 9 * MIB + 77);
  writeFileSync(image, bytes);
  await createSnapshot(image, local, { level: 1, base });
});

test("downloads only the pieces of the base that differ", async () => {
  const origin = await originOf({ "/base.vhs": base });
  const options = { level: 1, workers: 1, base: origin.url("/base.vhs"), connections: 1 };
  const info = await createSnapshot(image, path("delta.vhs"), options);
  expect(info).toMatchObject({ detection: "digests", changedBytes: 4 * KIB });
  expect(info.delta?.objects[0]?.reference).toBe("");
  // Its end, which is half a MiB, and one piece.
  expect(origin.bytesSent).toBeLessThan(1.6 * MIB);
  await expectNothingLeft(path("tmp"), origin);
  const restored = path("restored");
  await restoreSnapshot(path("delta.vhs"), restored, { resolve: () => base });
  expectSame(readFileSync(restored), bytes);
});

test("uploads a delta beside its base, and one against that", async () => {
  const origin = await originOf({ "/a/base.vhs": base });
  const at = (name: string) => origin.url(`/a/${name}`);
  const options = { level: 1, workers: 1 };
  const first = await createSnapshot(image, at("1.vhs"), { ...options, base: at("base.vhs") });
  expect(first.delta?.objects.map(({ reference }) => reference)).toEqual(["base.vhs"]);
  expectSame(origin.get("/a/1.vhs")!, readFileSync(local));

  const [changed, restored] = [Buffer.from(bytes), path("restored")];
  noise("again", 5 * KIB).copy(changed, 9 * MIB + 8 * KIB);
  writeFileSync(path("again"), changed);
  const second = await createSnapshot(path("again"), at("2.vhs"), {
    ...options,
    base: at("1.vhs"),
  });
  expect(second.delta?.depth).toBe(2);
  const references = second.delta?.objects.map(({ reference }) => reference);
  expect(references?.sort()).toEqual(["1.vhs", "base.vhs"]);
  await restoreSnapshot(at("2.vhs"), restored, { workers: 1 });
  expectSame(readFileSync(restored), changed);
  await expectNothingLeft(path("tmp"), origin);
});

test("refers to objects below its folder only", async () => {
  mkdirSync(path("x/y"), { recursive: true });
  const options = { level: 1, workers: 1, base };
  const above = await createSnapshot(image, path("x/above.vhs"), options);
  expect(above.delta?.objects.map(({ reference }) => reference)).toEqual([""]);
  const resolve = () => base;
  const both = { ...options, base: path("x/above.vhs"), resolve };
  const below = await createSnapshot(image, path("below.vhs"), both);
  expect(below.delta?.objects.map(({ reference }) => reference).sort()).toEqual([
    "base.vhs",
    "x/above.vhs",
  ]);
  const unknown = await createSnapshot(image, path("x/unknown.vhs"), {
    ...{ ...options, base: path("x/above.vhs") },
    changed: [],
  });
  expect(unknown.delta?.objects.map(({ reference }) => reference).sort()).toEqual([
    "",
    "above.vhs",
  ]);
  expect(leftovers(path())).toEqual([]);
});

test("takes a base from a server without ranges", async () => {
  const faults = () => ({ ignoreRange: true });
  const origin = await originOf({ "/base.vhs": base }, { faults });
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const options = { level: 1, workers: 1, base: origin.url("/base.vhs") };
  await createSnapshot(image, path("spooled.vhs"), options);
  warn.mockRestore();
  await restoreSnapshot(path("spooled.vhs"), path("restored"), { resolve: () => base });
  expectSame(readFileSync(path("restored")), bytes);
  await expectNothingLeft(path("tmp"), origin);
});
