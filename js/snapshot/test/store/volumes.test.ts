/** Further volumes of disks, which are saved at one moment with them. */
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type {
  AttachedDisk,
  DiskStore,
  DiskVolume,
  FileVolume,
  NewDiskOptions,
  UnsavedImage,
} from "@hedgerow/snapshot";
import { expect, onTestFinished, test } from "vitest";

import { memoryDisk } from "../support/loop-disk.js";
import { refusalOf } from "../support/refusal.js";
import {
  age,
  BLOCK,
  fillBlock,
  lettersOf,
  objectsIn,
  openHost,
  storePlace,
  whileAttached,
} from "../support/stores.js";

const at = storePlace("XFS");

const VOLUMES: NewDiskOptions["volumes"] = {
  data: { size: 2 * BLOCK },
  memory: { size: 4 * BLOCK },
  state: {},
};

/** Opens a store with a disk "a" of one block that has volumes. */
async function openWithVolumes(name: string): Promise<DiskStore> {
  const store = await openHost(at, name);
  await store.create("a", { size: BLOCK, volumes: VOLUMES });
  return store;
}

async function attach(store: DiskStore, name = "a") {
  const disk = await store.attach(name);
  onTestFinished(() => disk.detach({ save: false }));
  return { disk, ...volumesOf(disk) };
}

function volumesOf(disk: AttachedDisk) {
  return {
    data: disk.volume("data") as DiskVolume,
    memory: disk.volume("memory") as DiskVolume,
    state: disk.volume("state") as FileVolume,
  };
}

/** Returns the content of a disk with its volumes. */
async function contentOf(disk: AttachedDisk): Promise<string[]> {
  const { data, memory, state } = volumesOf(disk);
  const disks = await Promise.all([disk, data, memory].map((one) => lettersOf(one)));
  return [...disks, readFileSync(state.path, "utf8")];
}

test("a new disk has its volumes, each with its content and kind", async () => {
  const store = await openWithVolumes("create");
  const { disk, data, memory, state } = await attach(store);
  expect([data.kind, memory.kind, state.kind]).toEqual(["disk", "memory", "file"]);
  expect(await contentOf(disk)).toEqual([".", "..", "....", ""]);
  // Smaller pieces than those of disks: a resumed machine reads single pages.
  expect([disk, data, memory].map(({ info }) => info.pieceSize)).toEqual([
    2 ** 20,
    2 ** 20,
    2 ** 16,
  ]);
  expect(disk.volumes).toEqual(["data", "memory", "state"]);
  expect(() => disk.volume("nvram")).toThrow(
    "name: expected one of data, memory, state, found nvram",
  );
  expect(() => disk.volume("constructor")).toThrow("found constructor");
});

test("a save has all volumes of the moment between the hooks, and what it carries", async () => {
  const store = await openWithVolumes("moment");
  const { disk, data, memory, state } = await attach(store);
  await fillBlock(disk, 0, "a");
  await fillBlock(memory, 1, "b");
  const calls: string[] = [];
  const saved = await disk.save({
    metadata: { monitor: "qemu 7.2" },
    freeze: async () => {
      calls.push("freeze");
      await fillBlock(data, 1, "c");
      writeFileSync(state.path, "registers");
    },
    thaw: async () => {
      calls.push("thaw");
      for (const volume of [disk, data, memory]) await fillBlock(volume, 0, "z");
      writeFileSync(state.path, "later");
    },
  });
  expect(calls).toEqual(["freeze", "thaw"]);
  expect(saved).toMatchObject({ number: 2, metadata: { monitor: "qemu 7.2" } });
  expect(Object.keys(saved.volumes)).toEqual(["data", "memory", "state"]);
  expect(saved.volumes.state?.size).toBe("registers".length);
  await store.fork("a", "b");
  const content = ["a", ".c", ".b..", "registers"];
  expect(await whileAttached(store, "b", contentOf)).toEqual(content);
  await disk.detach();
  expect(await whileAttached(store, "a", contentOf)).toEqual(["z", "zc", "zb..", "later"]);
  await store.rollback("a", 2);
  expect(await whileAttached(store, "a", contentOf)).toEqual(content);
  const history = [];
  for await (const one of store.history("a")) history.push(one.metadata);
  expect(history).toEqual([undefined, { monitor: "qemu 7.2" }, undefined, { monitor: "qemu 7.2" }]);
});

test("a save without changes adds nothing, unless it carries something", async () => {
  const store = await openWithVolumes("unchanged");
  const { disk, memory } = await attach(store);
  expect(await disk.save()).toMatchObject({ number: 1 });
  const carried = await disk.save({ metadata: 1 });
  expect(carried).toMatchObject({ number: 2, metadata: 1, digest: disk.generation.digest });
  // Only the volume that has changed is stored again.
  await fillBlock(memory, 3, "m");
  const saved = await disk.save();
  expect(saved).toMatchObject({ number: 3, changedBytes: BLOCK, metadata: undefined });
  expect(saved.digest).toBe(carried.digest);
  expect(saved.volumes.data).toEqual(carried.volumes.data);
  expect(saved.volumes.memory?.digest).not.toBe(carried.volumes.memory?.digest);
});

test("a save that fails in one volume saves none, and the next one has the changes of all", async () => {
  const store = await openWithVolumes("fails");
  const { disk, data, memory, state } = await attach(store);
  for (const [volume, letter] of [
    [disk, "a"],
    [data, "d"],
    [memory, "m"],
  ] as const)
    await fillBlock(volume, 0, letter);
  const { path } = state;
  const content = readFileSync(path);
  const { rmSync } = await import("node:fs");
  rmSync(path);
  let thawed = 0;
  const thaw = () => {
    thawed += 1;
  };
  await refusalOf(disk.save({ thaw }), "ERR_IMAGE");
  expect(thawed).toBe(1);
  expect((await store.stat("a")).generations).toBe(1);
  writeFileSync(path, content);
  await refusalOf(
    disk.save({
      freeze: () => {
        throw new Error("no");
      },
    }),
    "ERR_HOOK",
  );
  expect((await store.stat("a")).generations).toBe(1);
  await disk.save();
  expect(await whileForked(store, contentOf)).toEqual(["a", "d.", "m...", ""]);
});

/** Returns what a fork of "a" has. */
async function whileForked<T>(store: DiskStore, use: (disk: AttachedDisk) => Promise<T>) {
  await store.fork("a", "fork");
  return whileAttached(store, "fork", use);
}

test("collections keep the snapshots of all volumes, and verify reads them", async () => {
  const store = await openWithVolumes("collect");
  const { disk, data, memory, state } = await attach(store);
  for (const volume of [disk, data, memory]) await fillBlock(volume, 0, "x");
  writeFileSync(state.path, "y");
  await disk.detach();
  const folder = at.folder("collect");
  await store.collect();
  age(folder, 7_200);
  expect(await store.collect({ grace: "1h" })).toMatchObject({ marked: 0, deleted: [] });
  const { last, ownBytes } = await store.stat("a");
  expect(ownBytes).toBe(last.bytes);
  const { digest } = last.volumes.memory ?? { digest: "" };
  expect(await store.explain(digest)).toMatchObject({
    references: [{ name: "a", generation: 2, as: "snapshot" }],
  });
  expect(await store.verify("a")).toMatchObject({ number: 2 });
  await store.expire({ keepLast: 1 });
  await store.collect();
  age(folder, 7_200);
  await store.collect({ grace: "1h" });
  expect(await whileAttached(store, "a", contentOf)).toEqual(["x", "x.", "x...", "y"]);
  const damaged = objectsIn(folder).find((name) => name.includes(digest)) as string;
  writeFileSync(`${folder}/${damaged}`, "damaged");
  await refusalOf(store.verify("a"), "ERR_STORE");
});

test("what a lost disk leaves becomes a new disk, whose memory and files are empty", async () => {
  const store = await openWithVolumes("lost");
  const thief = await openHost(at, "lost");
  const disk = await store.attach("a");
  const { data, memory, state } = volumesOf(disk);
  await fillBlock(data, 1, "d");
  await fillBlock(memory, 1, "m");
  writeFileSync(state.path, "s");
  await (await thief.attach("a", { steal: true })).detach();
  await refusalOf(disk.detach(), "ERR_LEASE_LOST");
  const found: UnsavedImage[] = [];
  for await (const one of store.unsaved()) found.push(one);
  expect(found).toMatchObject([{ image: disk.image, name: "a", changedBytes: BLOCK }]);
  await store.recover(disk.image, "b");
  expect(await whileAttached(store, "b", contentOf)).toEqual([".", ".d", "....", ""]);
  expect(readdirSync(dirname(disk.image)).filter((name) => name !== "lock")).toEqual([]);
});

test("memory that was not saved is not kept", async () => {
  const store = await openWithVolumes("memory");
  const thief = await openHost(at, "memory");
  const disk = await store.attach("a");
  await fillBlock(volumesOf(disk).memory, 1, "m");
  await (await thief.attach("a", { steal: true })).detach();
  // It is of another moment than the disk in the store.
  await refusalOf(disk.detach(), "ERR_LEASE_LOST");
  expect(existsSync(disk.image)).toBe(false);
  for await (const one of store.unsaved()) expect(one).toBeUndefined();
});

test("a file that was not saved is not kept, and detaching says so", async () => {
  const store = await openWithVolumes("file");
  const thief = await openHost(at, "file");
  const disk = await store.attach("a");
  writeFileSync(volumesOf(disk).state.path, "s");
  await (await thief.attach("a", { steal: true })).detach();
  await refusalOf(disk.detach(), "ERR_LEASE_LOST");
  expect(existsSync(disk.image)).toBe(false);
});

test("a disk whose memory lost bytes is given up, and its images are removed", async () => {
  const store = await openWithVolumes("truncated");
  const disk = await store.attach("a");
  const { memory } = volumesOf(disk);
  await memory.filled;
  truncateSync(memory.image, 0);
  await disk.detach({ save: false });
  expect(readdirSync(dirname(disk.image))).toEqual(["lock"]);
  expect(await whileAttached(store, "a", contentOf)).toEqual([".", "..", "....", ""]);
});

test("a generation has the metadata of its save, whatever becomes of the object later", async () => {
  const store = await openWithVolumes("own-metadata");
  const { disk } = await attach(store);
  const metadata: Record<string, unknown> = { step: 1 };
  const freeze = () => {
    metadata.long = "x".repeat(5_000);
  };
  await disk.save({ metadata, freeze });
  Object.assign(disk.generation.metadata as object, { step: 2 });
  await disk.save({ label: "same", metadata: { step: 3 } });
  const found = [];
  for await (const one of store.history("a")) found.push(one.metadata);
  expect(found).toEqual([undefined, { step: 1 }, { step: 3 }]);
});

test.each<[string, NewDiskOptions["volumes"], string]>([
  ["a name", { Data: {} }, 'volumes: expected 1 to 32 lower-case letters, digits or "-", of which'],
  ["no content", { data: { kind: "disk" } }, "volumes.data: expected one of from, image and size"],
  ["two contents", { data: { size: 1, image: "x" } }, "found image and size"],
  ["a kind", { data: { kind: "floppy" as "disk", size: 1 } }, 'volumes.data.kind: expected "disk"'],
  ["an option", { data: { label: "x" } as object }, "volumes.data: expected known options"],
  [
    "too many",
    Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`v${n}`, {}])),
    "volumes: expected at most 16 volumes, found 17",
  ],
])("refuses volumes with %s", async (_what, volumes, message) => {
  const store = await openHost(at, "refused");
  const refused = store.create("a", { size: BLOCK, volumes });
  await expect(refused).rejects.toMatchObject({ code: "ERR_ARGUMENT" });
  await expect(refused).rejects.toThrow(message);
});

test.each<[string, unknown]>([
  [
    "a cycle",
    (() => {
      const cycle: unknown[] = [];
      cycle.push(cycle);
      return cycle;
    })(),
  ],
  ["a function", () => {}],
  ["more than 4 KiB", "x".repeat(4_095)],
])("refuses metadata with %s", async (_what, metadata) => {
  const store = await openHost(at, "metadata");
  await refusalOf(store.create("a", { size: BLOCK, metadata }), "ERR_ARGUMENT");
});

const small = memoryDisk(2 ** 20);

test("memory whose bytes could not be written is never saved, a disk is", async () => {
  const images = small.path("images");
  const store = await openHost(at, "full", { images });
  await store.create("a", { size: BLOCK, volumes: VOLUMES });
  const { disk, data, memory } = await attach(store);
  const ballast = small.path("ballast");
  for (const volume of [data, memory]) {
    expect(() => writeFileSync(ballast, Buffer.alloc(2 ** 20))).toThrow("ENOSPC");
    await refusalOf(fillBlock(volume, 0, "x"), "ERR_TARGET");
    rmSync(ballast);
    // The system may have dropped the page: that this one can be written says nothing of it.
    await fillBlock(volume, 1, "y");
    if (volume === data) await disk.save();
    else expect((await refusalOf(disk.save(), "ERR_IMAGE")).message).toContain("lacks bytes");
  }
  await disk.detach({ save: false });
  expect((await store.stat("a")).last.number).toBe(2);
  expect(await whileAttached(store, "a", contentOf)).toEqual([".", ".y", "....", ""]);
});
