/** Stores of disks for tests: in folders of ext4 and XFS, and in S3. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type AttachedDisk, DiskStore, type StoreOptions } from "@hedgerow/snapshot";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";

import { type S3Server, startS3 } from "../../../../tests/support/s3/server.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { MIB } from "./cache.js";
import { ext4Disk, type LoopDisk, xfsDisk } from "./loop-disk.js";

/** The size of a block that counts as changed. */
export const BLOCK = 2 ** 12;

/** A place for stores. */
export interface StorePlace {
  /** Returns the place of a store. */
  place(name: string): string;
  /** Returns the folder that holds its objects, whatever serves them. */
  folder(name: string): string;
  /** Returns a new directory for local images. */
  images(): string;
  /** The options that stores there need. */
  readonly options: StoreOptions;
}

/** The kinds of places. */
export const KINDS = ["ext4", "XFS", "S3"] as const;
export type Kind = (typeof KINDS)[number];

/** Makes the place of a kind, until the tests of the file are done. Fails if a file system cannot be mounted. */
export function storePlace(kind: Kind): StorePlace {
  return kind === "S3" ? s3Place() : folderPlace(kind === "XFS" ? xfsDisk : ext4Disk);
}

function folderPlace(make: (size: number) => LoopDisk): StorePlace {
  const disk = make(320 * MIB);
  return {
    place: (name) => disk.path("stores", name),
    folder: (name) => disk.path("stores", name),
    images: () => newFolder(disk.path()),
    options: {},
  };
}

function s3Place(): StorePlace {
  const path = temporaryFolder();
  let server: S3Server | undefined;
  const options: { -readonly [Name in keyof StoreOptions]: StoreOptions[Name] } = {};
  beforeAll(async () => {
    server = await startS3();
    options.s3 = s3Of(server);
  });
  afterAll(() => server?.close());
  const known = () => server as S3Server;
  return {
    place: (name) => `s3://${known().bucket}/stores/${name}`,
    folder: (name) => join(known().folder, "stores", name),
    images: () => newFolder(path()),
    options,
  };
}

/** Returns the options for a server. */
export function s3Of({ endpoint, region, credentials }: S3Server): NonNullable<StoreOptions["s3"]> {
  return { endpoint, region, credentials };
}

function newFolder(parent: string): string {
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "hedgerow-images-"));
}

/**
 * Opens a store, whose calls use one worker unless they say otherwise: each compiles a module, which takes longer than
 * a small disk.
 */
export async function openStore(location: string, options: StoreOptions): Promise<DiskStore> {
  const store = await DiskStore.open(location, options);
  const [create, attach] = [store.create.bind(store), store.attach.bind(store)];
  store.create = (name, given) => create(name, { workers: 1, ...given });
  store.attach = async (name, given) => {
    const disk = await attach(name, { workers: 1, ...given });
    const [save, detach] = [disk.save.bind(disk), disk.detach.bind(disk)];
    disk.save = (how) => save({ workers: 1, ...how });
    disk.detach = (how) => detach({ workers: 1, ...how });
    return disk;
  };
  return store;
}

/** Opens a store as a host of its own, until the test is done. */
export async function openHost(
  at: StorePlace,
  name: string,
  options: StoreOptions = {},
): Promise<DiskStore> {
  const images = at.images();
  const store = await openStore(at.place(name), { images, ...at.options, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** Fills a block of a disk with a letter. */
export async function fillBlock(
  disk: Pick<AttachedDisk, "write">,
  block: number,
  letter: string,
): Promise<void> {
  await disk.write(block * BLOCK, Buffer.alloc(BLOCK, letter));
}

/** Returns the first letters of the blocks of a disk, "." for zeros. */
export async function lettersOf(disk: Pick<AttachedDisk, "read" | "size">): Promise<string> {
  const bytes = await disk.read(0, disk.size);
  let text = "";
  for (let at = 0; at < bytes.length; at += BLOCK)
    text += bytes[at] === 0 ? "." : String.fromCharCode(bytes[at] as number);
  return text;
}

/** Attaches a disk, calls `use` with it, and detaches it. */
export async function whileAttached<T>(
  store: DiskStore,
  name: string,
  use: (disk: AttachedDisk) => Promise<T>,
): Promise<T> {
  const disk = await store.attach(name);
  try {
    return await use(disk);
  } finally {
    await disk.detach();
  }
}

/** Returns the names that a store lists, in that order. */
export async function namesIn(store: Pick<DiskStore, "list">): Promise<string[]> {
  const names: string[] = [];
  for await (const name of store.list()) names.push(name);
  return names;
}

/** Expects that disks of a store are created, written, forked, removed, read and collected. Leaves the disk "bob". */
export async function expectUsable(store: DiskStore): Promise<void> {
  await store.create("alice", { size: 4 * BLOCK });
  await whileAttached(store, "alice", (disk) => fillBlock(disk, 1, "x"));
  await store.fork("alice", ["bob"]);
  await store.remove("alice");
  expect(await whileAttached(store, "bob", lettersOf)).toBe(".x..");
  await store.collect();
}

/** Makes everything in a store older. @param seconds by how much */
export function age(folder: string, seconds: number): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    const found = statSync(path);
    if (!found.isFile()) continue;
    const time = found.mtimeMs / 1000 - seconds;
    utimesSync(path, time, time);
  }
}

/** Returns the names of the objects in a store, sorted. A server may remove folders that are empty. */
export function objectsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}
