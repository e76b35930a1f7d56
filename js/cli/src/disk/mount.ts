/** Mounts the file system of a snapshot, by nbdfuse and a loop device. */
import { rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { Disk } from "@hedgerow/snapshot";
import type { Command } from "commander";
import prettyBytes from "pretty-bytes";

import { checkEngine, runEngine, startEngine } from "../engine.js";
import { CliError } from "../error.js";
import { makeFolder } from "../files/output.js";
import { interruptible } from "../interrupt.js";
import { parseWhole } from "../options.js";
import { jsonOf, print } from "../print.js";
import { PLACE, parsePlace } from "../snapshot/options.js";
import { addDiskOptions, type DiskFlags } from "./options.js";
import { type Served, serveDisk, untilAborted } from "./serve.js";

/** How many times to try to unmount a file system that is in use. */
const MAX_UNMOUNTS = 20;

/** The pause between two attempts to unmount, in milliseconds. */
const UNMOUNT_INTERVAL = 100;

/** The first bytes of an XFS file system. */
const XFS_MAGIC = Buffer.from("XFSB");

interface MountFlags extends DiskFlags {
  readonly image?: string;
  readonly readWrite: boolean;
  readonly partition?: number;
}

/** Adds `hedgerow disk mount`. */
export function addMountCommand(disk: Command): void {
  const command = disk
    .command("mount")
    .description(
      "mount the file system of a snapshot until SIGTERM or SIGINT; needs root and nbdfuse",
    )
    .argument("<snapshot>", `snapshot to read: ${PLACE}`, parsePlace)
    .argument("<directory>", "existing directory to mount at")
    .option(
      "--image <file>",
      "local image to keep, as of disk open (default: a temporary file)",
      parsePlace,
    )
    .option("--read-write", "mount for reading and writing; needs --image", false)
    .option("--partition <number>", "partition to mount, if the disk has any", parseWhole)
    .action(mount);
  addDiskOptions(command);
}

async function mount(source: string, directory: string, flags: MountFlags): Promise<void> {
  if (flags.readWrite && flags.image === undefined) {
    throw new CliError("ERR_USAGE", "--read-write: expected --image too, which keeps the changes");
  }
  await checkMountable(directory);
  // Awaited later, because the snapshot can be opened at the same time.
  const programs = checkPrograms(directory);
  programs.catch(() => {});
  await interruptible(async (signal) => {
    // Private: it holds the socket, the file of nbdfuse, and perhaps the image.
    const folder = await makeFolder("hedgerow-mount-");
    try {
      const { image = join(folder, "image"), readWrite } = flags;
      // The kernel replays the journal of a file system that was in use when it was saved, even to read it.
      const listen = { path: join(folder, "socket"), discardWrites: !readWrite };
      const device = { kind: "file", path: join(folder, "disk") } as const;
      await programs;
      const how = { source, image, readOnly: !readWrite, serve: { listen, device }, flags, signal };
      await serveDisk(how, (served) => useMounted(served, { directory, flags, signal }));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Throws if nothing can be mounted at a directory, before anything is fetched. */
async function checkMountable(directory: string): Promise<void> {
  const found = await stat(directory);
  if (!found.isDirectory()) {
    throw new CliError("ERR_OUTPUT", `${directory}: expected a directory to mount at`);
  }
  if (process.getuid?.() !== 0) {
    throw new CliError("ERR_OUTPUT", "cannot mount: only root may set up loop devices");
  }
}

/** Throws if a program that mounting needs is missing. */
async function checkPrograms(directory: string): Promise<void> {
  const names = ["nbdfuse", "losetup", "mount"] as const;
  await Promise.all(names.map((name) => checkEngine(name, `mount at ${directory}`)));
}

interface Mounting {
  readonly directory: string;
  readonly flags: MountFlags;
  readonly signal: AbortSignal;
}

/** Mounts a disk until a signal arrives. Whatever happens, nothing stays mounted. */
async function useMounted({ disk, serving }: Served, mounting: Mounting): Promise<void> {
  const { directory, flags, signal } = mounting;
  const { uri, device = "", failed } = serving;
  if (signal.aborted) return;
  const partition = await partitionOf(disk, flags);
  try {
    await mountFile(device, partition, directory, await mountOptionsOf(disk, partition, flags));
  } catch (error) {
    const list = listOf(await partitionsOf(disk));
    if (list === "" || flags.partition !== undefined) throw error;
    const message = `cannot mount: the disk has partitions; pass --partition with ${list}`;
    throw new CliError("ERR_OUTPUT", message);
  }
  try {
    const { digest, imageSize: size } = disk.info;
    const path = resolve(directory);
    await print(flags.json ? jsonOf({ uri, path, digest, size }) : `${path}\n`);
    const reason = await Promise.race([untilAborted(signal), failed]);
    if (reason !== undefined) throw new CliError("ERR_OUTPUT", reason);
  } finally {
    await unmount(directory);
  }
}

/** Returns the part of a disk to mount. @throws {CliError} `ERR_USAGE` if there is no such partition */
async function partitionOf(disk: Disk, { partition }: MountFlags): Promise<Partition> {
  if (partition === undefined) return { number: 0, offset: 0, size: disk.size };
  const partitions = await partitionsOf(disk);
  const found = partitions.find(({ number }) => number === partition);
  if (found !== undefined) return found;
  const expected = listOf(partitions) || "a disk with partitions";
  throw new CliError("ERR_USAGE", `--partition: expected ${expected}, found ${partition}`);
}

/** Returns the options to mount the file system in a partition with. */
async function mountOptionsOf(
  disk: Disk,
  { offset, size }: Partition,
  { readWrite }: MountFlags,
): Promise<string> {
  const start = await disk.read(offset, Math.min(size, XFS_MAGIC.length));
  // Snapshots of one XFS have the same UUID. By default, the kernel mounts only one of them at a time.
  const isXfs = start.equals(XFS_MAGIC);
  return `${readWrite ? "rw" : "ro"}${isXfs ? ",nouuid" : ""}`;
}

/** Mounts the file system in a partition of a file through a loop device, which is always writable. */
async function mountFile(
  file: string,
  { offset, size }: Partition,
  directory: string,
  options: string,
): Promise<void> {
  const what = `mount at ${directory}`;
  const part = ["--offset", `${offset}`, "--sizelimit", `${size}`];
  const setup = await runEngine("losetup", ["--find", "--show", ...part, file], { what });
  const device = setup.output();
  const detach = ["--detach", device];
  try {
    await runEngine("mount", ["--options", options, device, directory], { what });
  } catch (error) {
    await startEngine("losetup", detach).ended;
    throw error;
  }
  try {
    // The kernel removes the device when the file system is unmounted.
    await runEngine("losetup", detach, { what });
  } catch (error) {
    await unmount(directory);
    await startEngine("losetup", detach).ended;
    throw error;
  }
}

/**
 * Makes a file system durable and unmounts it. Detaches one that stays in use: its users keep it until they end. Syncs
 * it first, because the kernel does not when another mount namespace, such as that of a container, has the file system
 * mounted, too.
 */
async function unmount(directory: string): Promise<void> {
  const sync = () => startEngine("sync", ["--file-system", directory]).ended;
  for (let tries = 0; tries < MAX_UNMOUNTS; tries += 1) {
    await sync();
    if ((await startEngine("umount", [directory]).ended) === undefined) return;
    await delay(UNMOUNT_INTERVAL);
  }
  await sync();
  await runEngine("umount", ["--lazy", directory], { what: `unmount ${directory}` });
}

/** Unit of tables in images of virtual disks, in bytes. */
const SECTOR = 512;

/** The position of the four partitions of a master boot record. */
const MBR_ENTRIES = 446;

/** The size of one of them, in bytes. */
const MBR_ENTRY = 16;

/** The signature at the end of a master boot record. */
const MBR_SIGNATURE = 0xaa55;

/** The type of the only partition in a master boot record that protects a GPT. */
const PROTECTIVE = 0xee;

/** The maximum number of partitions in a GPT that are listed. */
const MAX_GPT_ENTRIES = 128;

/** The maximum size of an entry of a GPT, in bytes. */
const MAX_GPT_ENTRY = 512;

/** A partition of a disk, with its position and size in bytes. */
interface Partition {
  readonly number: number;
  readonly offset: number;
  readonly size: number;
}

/** Returns the partitions as text. */
function listOf(partitions: readonly Partition[]): string {
  return partitions.map(({ number, size }) => `${number} of ${prettyBytes(size)}`).join(", ");
}

/** Returns the partitions of a disk, none if it has no table. */
async function partitionsOf(disk: Disk): Promise<Partition[]> {
  if (disk.size < 2 * SECTOR) return [];
  const start = await disk.read(0, 2 * SECTOR);
  if (start.readUInt16LE(SECTOR - 2) !== MBR_SIGNATURE) return [];
  const isGpt = start.toString("latin1", SECTOR, SECTOR + 8) === "EFI PART";
  return isGpt ? gptPartitions(disk, start.subarray(SECTOR)) : mbrPartitions(start);
}

function mbrPartitions(start: Buffer): Partition[] {
  const partitions: Partition[] = [];
  for (let index = 0; index < 4; index += 1) {
    const entry = start.subarray(MBR_ENTRIES + index * MBR_ENTRY);
    const status = entry[0];
    const type = entry[4];
    const [first, sectors] = [entry.readUInt32LE(8), entry.readUInt32LE(12)];
    // The boot sector of a file system has the signature, too, and code in place of entries.
    if (status !== 0 && status !== 0x80) return [];
    if (type === PROTECTIVE || type === 0 || sectors === 0) continue;
    partitions.push({ number: index + 1, offset: first * SECTOR, size: sectors * SECTOR });
  }
  return partitions;
}

async function gptPartitions(disk: Disk, header: Buffer): Promise<Partition[]> {
  const position = Number(header.readBigUInt64LE(72)) * SECTOR;
  const count = Math.min(header.readUInt32LE(80), MAX_GPT_ENTRIES);
  const length = header.readUInt32LE(84);
  if (length < 128 || length > MAX_GPT_ENTRY || position + count * length > disk.size) return [];
  const table = await disk.read(position, count * length);
  const partitions: Partition[] = [];
  for (let index = 0; index < count; index += 1) {
    const entry = table.subarray(index * length, (index + 1) * length);
    if (entry.subarray(0, 16).every((byte) => byte === 0)) continue;
    const [first, last] = [entry.readBigUInt64LE(32), entry.readBigUInt64LE(40)].map(Number);
    const [offset, size] = [first! * SECTOR, (last! - first! + 1) * SECTOR];
    if (offset + size <= disk.size && size > 0)
      partitions.push({ number: index + 1, offset, size });
  }
  return partitions;
}
