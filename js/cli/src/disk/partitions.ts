import type { Disk } from "@hedgerow/snapshot";
import prettyBytes from "pretty-bytes";

/** Unit of tables in images of virtual disks, in bytes. */
const SECTOR = 512;

/** Where a master boot record has four partitions of 16 bytes, and its signature. */
const [MBR_ENTRIES, MBR_ENTRY, MBR_SIGNATURE] = [446, 16, 0xaa55] as const;

/** The type of the only partition in a master boot record that protects a GPT. */
const PROTECTIVE = 0xee;

/** The maximum number of partitions in a GPT that are listed, and the maximum size of an entry, in bytes. */
const [MAX_GPT_ENTRIES, MAX_GPT_ENTRY] = [128, 512] as const;

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
export async function partitionHint(disk: Disk): Promise<string | undefined> {
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
    const [status, type, sectors] = [entry[0], entry[4], entry.readUInt32LE(12)] as const;
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
