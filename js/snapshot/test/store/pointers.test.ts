/** Objects of stores that are damaged, hostile, or of another version. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { DiskStore } from "@hedgerow/snapshot";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import fc from "../../../../tests/support/fast-check.js";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { trials } from "../../../../tests/support/trials.js";
import type { StoreObjects } from "../../dist/store/objects.js";
import { type PointerGeneration, parsePointer } from "../../dist/store/pointer.js";
import { Pointers } from "../../dist/store/pointers.js";
import { refusalOf } from "../support/refusal.js";
import { BLOCK, fillBlock, lettersOf, openStore, whileAttached } from "../support/stores.js";

const path = temporaryFolder();
let store: DiskStore;
let count = 0;
let folder = "";

/** A store that each test gets a copy of. */
const original = path("store");

const open = (place: string) => openStore(place, { images: path("images") });

beforeAll(async () => {
  const first = await open(original);
  await first.create("a", { size: BLOCK });
  await whileAttached(first, "a", (disk) => fillBlock(disk, 0, "x"));
  await first.close();
});

beforeEach(async () => {
  count += 1;
  folder = path(`store-${count}`);
  cpSync(original, folder, { recursive: true, preserveTimestamps: true });
  store = await open(folder);
});

afterEach(() => store.close());

const pointerFile = () => `${folder}/disks/a`;
const readPointer = () => JSON.parse(readFileSync(pointerFile(), "utf8"));

/** Writes a pointer with other members. */
function change(members: object): void {
  writeFileSync(pointerFile(), JSON.stringify({ ...readPointer(), ...members }));
}

test("ignores unknown members of a pointer", async () => {
  const { generations } = readPointer();
  change({ future: 1, generations: generations.map((one: object) => ({ ...one, future: 1 })) });
  expect(await whileAttached(store, "a", lettersOf)).toBe("x");
});

const digest = "0".repeat(64);
const token = "00000000-0000-4000-8000-000000000000";
const generation = { number: 1, digest, bases: [], time: 0 };
const objects = { [digest]: 1 };
const volume = { kind: "disk", size: 1, digest, bases: [] };
const withVolume = (name: string, volume: object) => {
  return { version: 2, generations: [{ ...generation, volumes: { [name]: volume } }], objects };
};
const lease = { token, owner: "", duration: 1, elapsed: 0, generation: 1 };

test.each([
  ["another kind", { kind: "hedgerow something" }],
  ["another version", { version: 3 }],
  ["no id", { id: "a/../b" }],
  ["a negative epoch", { epoch: -1 }],
  ["a size that is no number", { size: "1" }],
  ["no generation", { generations: [] }],
  ["generations that are no array", { generations: { length: 1 } }],
  [
    "a digest that leads out of the store",
    { generations: [{ ...generation, digest: `../${digest}` }] },
  ],
  ["a base that is no digest", { generations: [{ ...generation, bases: ["x"] }], objects }],
  ["nine bases", { generations: [{ ...generation, bases: Array(9).fill(digest) }], objects }],
  ["an object without its size", { generations: [generation], objects: {} }],
  ["an object with a negative size", { generations: [generation], objects: { [digest]: -1 } }],
  [
    "generations in the wrong order",
    { generations: [{ ...generation, number: 2 }, generation], objects, next: 3 },
  ],
  ["a number twice", { generations: [generation, generation], objects, next: 3 }],
  ["a next number that was used", { generations: [generation], objects, next: 1 }],
  [
    "a label that is too long",
    { generations: [{ ...generation, label: "l".repeat(257) }], objects },
  ],
  ["a parent without a name", { generations: [{ ...generation, parent: {} }], objects }],
  [
    "too many generations",
    {
      generations: Array.from({ length: 1_001 }, (_, at) => ({ ...generation, number: at + 1 })),
      ...{ objects, next: 2_000 },
    },
  ],
  [
    "a token that leads out of the store",
    { lease: { ...lease, token: "../../../../../../../../etc/passwd" } },
  ],
  ["an owner that is too long", { lease: { ...lease, owner: "o".repeat(257) } }],
  ["a lease without a duration", { lease: { ...lease, duration: undefined } }],
  [
    "a time that no date can hold",
    { generations: [{ ...generation, time: 8.64e15 + 1 }], objects },
  ],
  ["no lease and no null", { lease: undefined }],
  ["a volume of another kind", withVolume("v", { ...volume, kind: "tape" })],
  ["a volume without a size", withVolume("v", { ...volume, size: undefined })],
  ["a volume whose name leads out of the images", withVolume("../v", volume)],
  ["a volume whose digest leads out of the store", withVolume("v", { ...volume, digest: "../x" })],
  [
    "metadata of more than 4 KiB",
    { generations: [{ ...generation, metadata: "x".repeat(4_095) }] },
  ],
])("a pointer with %s is an error that names it", async (_, members) => {
  change(members);
  for (const call of [() => store.stat("a"), () => store.attach("a"), () => store.collect()]) {
    const { message } = await refusalOf(call(), "ERR_STORE");
    expect(message).toContain("disks/a");
  }
});

test.each(["", "{", "null", "[]", "7"])("rejects a pointer with the content %j", async (text) => {
  writeFileSync(pointerFile(), text);
  await refusalOf(store.stat("a"), "ERR_STORE");
});

test("rejects a pointer of more than 2 MiB", async () => {
  const text = readFileSync(pointerFile(), "utf8");
  writeFileSync(pointerFile(), text + " ".repeat(2 ** 21 - text.length));
  expect(await store.stat("a")).toMatchObject({ generations: 2 });
  writeFileSync(pointerFile(), text + " ".repeat(2 ** 21 - text.length + 1));
  await refusalOf(store.stat("a"), "ERR_STORE");
});

test("either uses or rejects a pointer with a random member", async () => {
  const base = readPointer();
  const runs = trials({ few: 300, all: 5_000 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(base)), fc.jsonValue(), async (name, value) => {
      writeFileSync(pointerFile(), JSON.stringify({ ...base, [name]: value }));
      await store.stat("a").catch((error) => expect(error.code).toBe("ERR_STORE"));
    }),
    { numRuns: runs },
  );
});

test("a missing snapshot fails the calls that need it, and no others", async () => {
  const { digest: last } = (await store.stat("a")).last;
  rmSync(`${folder}/snapshots/${last}.vhs`);
  await refusalOf(store.attach("a"), "ERR_SOURCE");
  await refusalOf(store.fork("a", "b"), "ERR_STORE");
  // The disk is not left attached.
  expect(await store.stat("a")).toMatchObject({ attached: undefined });
  await store.rollback("a", 1);
  expect(await whileAttached(store, "a", lettersOf)).toBe(".");
});

test("an invalid tombstone fails a collection, which then deletes nothing", async () => {
  await store.remove("a");
  await store.collect({ grace: 0 });
  const [name] = readdirSync(`${folder}/tombstones`);
  writeFileSync(`${folder}/tombstones/${name}`, "{}");
  await refusalOf(store.collect({ grace: 0 }), "ERR_STORE");
  expect(readdirSync(`${folder}/snapshots`).length).toBeGreaterThan(0);
});

test("refuses a place without a marker, or with another one", async () => {
  await refusalOf(DiskStore.open(path("none"), { create: false }), "ERR_STORE");
  for (const text of ["", "{}", '{"kind":"hedgerow disk store","version":2,"id":"x"}']) {
    writeFileSync(`${folder}/hedgerow-disks.json`, text);
    await refusalOf(DiskStore.open(folder), "ERR_STORE");
  }
});

test("a pointer that no host could read is not written", async () => {
  const write = vi.fn();
  const pointers = new Pointers({ name: "store", write } as Partial<StoreObjects> as StoreObjects);
  const pointer = parsePointer("a", readFileSync(pointerFile()));
  const [first] = pointer.generations as [PointerGeneration];
  const generations = [{ ...first, metadata: "x".repeat(5_000) }];
  await expect(pointers.create("a", { ...pointer, generations })).rejects.toMatchObject({
    code: "ERR_STORE",
  });
  expect(write).not.toHaveBeenCalled();
});
