/** Stores in folders: who may use them, and that their files are private. */
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, join } from "node:path";
import { DiskStore } from "@hedgerow/snapshot";
import { expect, test, vi } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { openFiles } from "../support/open-files.js";
import { refusalOf } from "../support/refusal.js";
import { BLOCK, fillBlock, openStore } from "../support/stores.js";

const path = temporaryFolder();

test("all files are readable by their owner only, whatever the umask", async () => {
  const umask = process.umask(0);
  try {
    const store = await openStore(path("private"), { images: path("images") });
    await store.create("a", { size: BLOCK });
    const disk = await store.attach("a");
    await fillBlock(disk, 0, "x");
    await disk.save();
    for (const folder of [path("private"), path("images")]) {
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        const found = statSync(join(folder, name));
        expect([name, found.mode & 0o777]).toEqual([name, found.isFile() ? 0o600 : 0o700]);
      }
    }
    await disk.detach();
  } finally {
    process.umask(umask);
  }
});

test("refuses a folder that others own or can write to", async () => {
  mkdirSync(path("writable"));
  chmodSync(path("writable"), 0o777);
  await refusalOf(DiskStore.open(path("writable")), "ERR_STORE");
  mkdirSync(path("owned"), { mode: 0o700 });
  chownSync(path("owned"), 65_534, 65_534);
  await refusalOf(DiskStore.open(path("owned")), "ERR_STORE");
  await refusalOf(DiskStore.open(path("owned"), { create: false }), "ERR_STORE");
});

test("refuses a link of others to a folder or to a directory of local images", async () => {
  const [folder, images] = [path("linked"), path("images that are linked")];
  const store = await openStore(folder, { images });
  await store.create("a", { size: BLOCK });
  await (await store.attach("a")).detach();
  for (const target of [folder, images]) symlinkSync(target, `${target} link`);
  const open = () => DiskStore.open(`${folder} link`, { images: `${images} link/` });
  await (await (await open()).attach("a")).detach();
  lchownSync(`${images} link`, 65_534, 65_534);
  await refusalOf((await open()).attach("a"), "ERR_TARGET");
  lchownSync(`${folder} link`, 65_534, 65_534);
  await refusalOf(open(), "ERR_STORE");
});

test.each([
  ["others own", (folder: string) => chownSync(folder, 65_534, 65_534)],
  ["others can write to", (folder: string) => chmodSync(folder, 0o777)],
])("attaches no disk in a directory of local images that %s", async (kind, change) => {
  const folder = path(`images that ${kind}`);
  mkdirSync(folder);
  const store = await openStore(path("attaching"), { images: folder });
  const name = kind.replaceAll(" ", "-");
  await store.create(name, { size: BLOCK });
  const disk = await store.attach(name);
  await fillBlock(disk, 0, "x");
  change(folder);
  await refusalOf(store.attach(name, { steal: true }), "ERR_TARGET");
  chownSync(folder, process.getuid!(), process.getgid!());
  chmodSync(folder, 0o700);
  await disk.detach();
});

test.each([
  ["have another mode", (name: string) => chmodSync(name, 0o640)],
  ["have a second name", (name: string) => linkSync(name, `${path("backup-")}${basename(name)}`)],
])("files that are locked stay so when they %s", async (kind, change) => {
  const folder = path(kind);
  const one = await openStore(folder, { images: path("images-1") });
  await one.create("a", { size: BLOCK });
  const disk = await one.attach("a");
  await fillBlock(disk, 0, "x");
  const [lease] = readdirSync(join(folder, "leases")) as [string];
  const files = [join(folder, "leases", lease), join(folder, "lock")];
  const inodes = () => files.map((file) => statSync(file).ino);
  const before = inodes();
  for (const file of files) change(file);
  const two = await openStore(folder, { images: path("images-2") });
  await refusalOf(two.attach("a"), "ERR_ATTACHED");
  await two.collect();
  expect(inodes()).toEqual(before);
  await disk.save();
  await disk.detach();
  await (await two.attach("a")).detach();
});

test("a collection leaves a lease that cannot be opened", async () => {
  const store = await openStore(path("unknown"), { images: path("images") });
  const lease = path("unknown", "leases", "x");
  symlinkSync(path("unknown", "lock"), lease);
  expect(await store.collect()).toMatchObject({ leftovers: 0 });
  expect(lstatSync(lease).isSymbolicLink()).toBe(true);
});

test("a collection counts leases of killed processes, and removes them unless it is a dry run", async () => {
  const store = await openStore(path("killed"), { images: path("images") });
  const lease = path("killed", "leases", "x");
  writeFileSync(lease, "", { mode: 0o600 });
  expect(await store.collect({ dryRun: true })).toMatchObject({ leftovers: 1 });
  expect(existsSync(lease)).toBe(true);
  expect(await store.collect()).toMatchObject({ leftovers: 1 });
  expect(existsSync(lease)).toBe(false);
});

test("does not follow a link in place of an object", async () => {
  const store = await openStore(path("links"), { images: path("images") });
  await store.create("a", { size: BLOCK });
  symlinkSync(path("links", "disks", "a"), path("links", "disks", "b"));
  await refusalOf(store.stat("b"), "ERR_STORE");
});

test("refuses a file in place of the folder", async () => {
  writeFileSync(path("file"), "");
  await refusalOf(DiskStore.open(path("file")), "ERR_STORE");
  await refusalOf(DiskStore.open(path("file"), { create: false }), "ERR_STORE");
});

test("the file of a snapshot is closed if it cannot be made durable", async () => {
  const store = await openStore(path("failing"), { images: path("images-of-failing") });
  const folder = await open(path());
  const sync = vi.spyOn(Object.getPrototypeOf(folder) as FileHandle, "sync");
  await folder.close();
  sync.mockRejectedValue(Object.assign(new Error("EIO"), { code: "EIO", syscall: "fsync" }));
  await refusalOf(store.create("a", { size: BLOCK }), "ERR_STORE");
  sync.mockRestore();
  expect(openFiles(path("failing"))).toEqual([]);
  await store.close();
});
