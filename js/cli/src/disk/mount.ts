/** Mounts the file system of a snapshot, by nbdfuse and a loop device. */
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { Disk } from "@hedgerow/snapshot";
import type { Command } from "commander";
import prettyBytes from "pretty-bytes";

import { CliError, messageOf } from "../error.js";
import { interruptible } from "../interrupt.js";
import { jsonOf, print } from "../print.js";
import { PLACE, parsePlace } from "../snapshot/options.js";
import { addDiskOptions, type DiskFlags } from "./options.js";
import { type Program, runProgram, startProgram } from "./program.js";
import { type Served, serveDisk, untilAborted } from "./serve.js";

/** The time between two checks for the file of nbdfuse, in milliseconds. */
const POLL_INTERVAL = 5;

/** The maximum number of these checks. */
const MAX_POLLS = 2000;

/** How many times to try to unmount a file system that is in use. */
const MAX_UNMOUNTS = 20;

/** The pause between two attempts to unmount, in milliseconds. */
const UNMOUNT_INTERVAL = 100;

/** How long nbdfuse may take to end, in milliseconds. */
const END_TIMEOUT = 5_000;

/** The first bytes of an XFS file system. */
const XFS_MAGIC = Buffer.from("XFSB");

interface MountFlags extends DiskFlags {
  readonly image?: string;
  readonly readWrite: boolean;
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
    const folder = await temporaryFolder();
    try {
      const { image = join(folder, "image"), readWrite } = flags;
      // The kernel replays the journal of a file system that was in use when it was saved, even to read it.
      const listen = { path: join(folder, "socket"), discardWrites: !readWrite };
      const serving = { source, image, readOnly: !readWrite, listen, flags, signal };
      await serveDisk(serving, async (served) => {
        await programs;
        await useMounted(served, { directory, folder, flags, signal });
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), "hedgerow-mount-"));
  } catch (error) {
    const message = `cannot make a directory in ${tmpdir()}, as TMPDIR says: ${messageOf(error)}`;
    throw new CliError("ERR_OUTPUT", message);
  }
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
  await Promise.all(
    ["nbdfuse", "losetup", "mount"].map((name) =>
      runProgram(`mount at ${directory}`, name, ["--version"]),
    ),
  );
}

/** A mount point, and the folder of the files that mounting needs. */
interface Mounting {
  readonly directory: string;
  readonly folder: string;
  readonly flags: MountFlags;
  readonly signal: AbortSignal;
}

/** Mounts a disk until a signal arrives. Whatever happens, nothing stays mounted. */
async function useMounted({ disk, uri }: Served, mounting: Mounting): Promise<void> {
  const { directory, folder, flags, signal } = mounting;
  const fuse = join(folder, "fuse");
  await mkdir(fuse);
  const nbdfuse = startProgram("nbdfuse", [join(fuse, "disk"), uri]);
  try {
    await untilThere(join(fuse, "disk"), nbdfuse, signal);
    if (signal.aborted) return;
    try {
      await mountFile(join(fuse, "disk"), directory, await mountOptionsOf(disk, flags));
    } catch (error) {
      const hint = await partitionHint(disk);
      throw hint === undefined ? error : new CliError("ERR_OUTPUT", `cannot mount: ${hint}`);
    }
    try {
      const { digest, imageSize: size } = disk.info;
      const path = resolve(directory);
      await print(flags.json ? jsonOf({ uri, path, digest, size }) : `${path}\n`);
      const reason = await Promise.race([untilAborted(signal), nbdfuse.ended]);
      if (!signal.aborted) throw new CliError("ERR_OUTPUT", reason ?? "nbdfuse has ended");
    } finally {
      await unmount(directory);
    }
  } finally {
    await endNbdfuse(nbdfuse, fuse);
  }
}

/** Returns the options to mount the file system of a disk with. */
async function mountOptionsOf(disk: Disk, { readWrite }: MountFlags): Promise<string> {
  const start = await disk.read(0, Math.min(disk.size, XFS_MAGIC.length));
  // Snapshots of one XFS have the same UUID. By default, the kernel mounts only one of them at a time.
  const isXfs = start.equals(XFS_MAGIC);
  return `${readWrite ? "rw" : "ro"}${isXfs ? ",nouuid" : ""}`;
}

/** Mounts the file system in a file through a loop device, which is always writable. */
async function mountFile(file: string, directory: string, options: string): Promise<void> {
  const what = `mount at ${directory}`;
  const device = await runProgram(what, "losetup", ["--find", "--show", file]);
  const detach = ["--detach", device];
  try {
    await runProgram(what, "mount", ["--options", options, device, directory]);
  } catch (error) {
    await startProgram("losetup", detach).ended;
    throw error;
  }
  try {
    // The kernel removes the device when the file system is unmounted.
    await runProgram(what, "losetup", detach);
  } catch (error) {
    await unmount(directory);
    await startProgram("losetup", detach).ended;
    throw error;
  }
}

/** Waits until a file is there, its program has ended, or a signal is aborted. */
async function untilThere(file: string, program: Program, signal: AbortSignal): Promise<void> {
  let end: { readonly reason: string | undefined } | undefined;
  void program.ended.then((reason) => {
    end = { reason };
  });
  for (let polls = 0; polls < MAX_POLLS && !signal.aborted; polls += 1) {
    if (end !== undefined) {
      throw new CliError("ERR_OUTPUT", `cannot mount: ${end.reason ?? "nbdfuse has ended"}`);
    }
    const found = await stat(file).catch(() => undefined);
    if (found !== undefined) return;
    await delay(POLL_INTERVAL);
  }
  if (!signal.aborted) throw new CliError("ERR_OUTPUT", "cannot mount: nbdfuse does not start");
}

/**
 * Makes a file system durable and unmounts it. Detaches one that stays in use: its users keep it until they end. Syncs
 * it first, because the kernel does not when another mount namespace, such as that of a container, has the file system
 * mounted, too.
 */
async function unmount(directory: string): Promise<void> {
  const sync = () => startProgram("sync", ["--file-system", directory]).ended;
  for (let tries = 0; tries < MAX_UNMOUNTS; tries += 1) {
    await sync();
    if ((await startProgram("umount", [directory]).ended) === undefined) return;
    await delay(UNMOUNT_INTERVAL);
  }
  await sync();
  await runProgram(`unmount ${directory}`, "umount", ["--lazy", directory]);
}

/** Ends nbdfuse by unmounting its file. */
async function endNbdfuse({ child, ended }: Program, fuse: string): Promise<void> {
  if (child.pid === undefined) return;
  for (let tries = 0; tries < MAX_UNMOUNTS && child.exitCode === null; tries += 1) {
    if ((await startProgram("umount", [fuse]).ended) === undefined) break;
    await delay(UNMOUNT_INTERVAL);
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), END_TIMEOUT);
  if (child.exitCode === null) await startProgram("umount", ["--lazy", fuse]).ended;
  await ended;
  clearTimeout(timer);
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

/** A partition of a disk. */
interface Partition {
  readonly number: number;
  /** Size in bytes. */
  readonly size: number;
}

/**
 * Returns the error for a disk that cannot be mounted because it has partitions: a list of them, and what to do.
 * Returns undefined if it has none.
 */
async function partitionHint(disk: Disk): Promise<string | undefined> {
  const partitions = await partitionsOf(disk);
  if (partitions.length === 0) return undefined;
  const list = partitions.map(({ number, size }) => `${number} of ${prettyBytes(size)}`).join(", ");
  return `the disk has no file system but a partition table, with the partitions ${list}; restore it with hedgerow snapshot restore SNAPSHOT disk.img, then losetup --find --show --partscan disk.img, and mount a partition of the loop device, such as /dev/loop0p${partitions[0]?.number}`;
}

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
    const sectors = entry.readUInt32LE(12);
    // The boot sector of a file system has the signature, too, and code in place of entries.
    if (status !== 0 && status !== 0x80) return [];
    if (type === PROTECTIVE || type === 0 || sectors === 0) continue;
    partitions.push({ number: index + 1, size: sectors * SECTOR });
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
    const sectors = entry.readBigUInt64LE(40) - entry.readBigUInt64LE(32) + 1n;
    partitions.push({ number: index + 1, size: Number(sectors) * SECTOR });
  }
  return partitions;
}
