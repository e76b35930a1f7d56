/** Kinds of files that people take for a disk image or for a snapshot, by the bytes that they begin or end with. */

/** How many bytes of the beginning of a file tell its kind: the superblock of btrfs comes last. */
export const START_LENGTH = 2 ** 16 + 72;

/** How many bytes of its end: the footer of a VHD image. */
export const END_LENGTH = 512;

/** A kind of file. */
export interface FileType {
  /** Its name with an article, such as `a qcow2 image`. */
  readonly name: string;
  /** How to make a raw image of it. A file without it may be one. */
  readonly toRaw?: string;
}

/** Bytes at an offset, and what they mean. A negative offset counts from the end of the file. */
type Signature = readonly [offset: number, bytes: string, type: FileType];

const CONVERT = "convert it with qemu-img convert -O raw FILE disk.img";

const decompress = (program: string) => `decompress it with ${program} -dc FILE > disk.img`;

const snapshot = {
  name: "a snapshot",
  toRaw: "restore it with hedgerow snapshot restore FILE disk.img, or pass it as a snapshot",
};

const html = {
  name: "a web page, such as that of a login",
  toRaw: "check the address that it was downloaded from",
};

const vhd = { name: "a VHD image", toRaw: CONVERT };

const disk = { name: "a raw image of a disk with partitions" };

const xml = { name: "an XML document, such as the error of a server" };

/** The first that matches counts. Bytes are in Latin-1. */
const SIGNATURES: readonly Signature[] = [
  [8, "hedgevhs", snapshot],
  [0, "QFI\xfb", { name: "a qcow2 image", toRaw: CONVERT }],
  [0, "KDMV", { name: "a VMDK image", toRaw: CONVERT }],
  [0, "# Disk DescriptorFile", { name: "the description of a VMDK image", toRaw: CONVERT }],
  [0, "vhdxfile", { name: "a VHDX image", toRaw: CONVERT }],
  [0, "conectix", vhd],
  [-END_LENGTH, "conectix", { ...vhd, name: "a VHD image of fixed size" }],
  [64, "\x7f\x10\xda\xbe", { name: "a VDI image", toRaw: CONVERT }],
  [0, "\x1f\x8b\x08", { name: "a gzip file", toRaw: decompress("gzip") }],
  [0, "\xfd7zXZ\0", { name: "an xz file", toRaw: decompress("xz") }],
  [0, "\x28\xb5\x2f\xfd", { name: "a zstd file", toRaw: decompress("zstd") }],
  [4, "1AY&SY", { name: "a bzip2 file", toRaw: decompress("bzip2") }],
  [0, "\x04\x22\x4d\x18", { name: "an lz4 file", toRaw: decompress("lz4") }],
  [0, "PK\x03\x04", { name: "a zip archive", toRaw: "extract the image from it" }],
  [0, "7z\xbc\xaf\x27\x1c", { name: "a 7-Zip archive", toRaw: "extract the image from it" }],
  [257, "ustar", { name: "a tar archive", toRaw: "extract the image from it" }],
  [0, "<!doctype html", html],
  [0, "<html", html],
  [0, "<?xml", xml],
  [0, "<Error>", xml],
  [512, "EFI PART", disk],
  [0x438, "\x53\xef", { name: "a raw image of an ext2, ext3 or ext4 file system" }],
  [0, "XFSB", { name: "a raw image of an XFS file system" }],
  [0x10040, "_BHRfS_M", { name: "a raw image of a btrfs file system" }],
  [0, "hsqs", { name: "a raw image of a squashfs file system" }],
  [0x8001, "CD001", { name: "an ISO image" }],
  [0, "LUKS\xba\xbe", { name: "a raw image that LUKS encrypts" }],
  [510, "\x55\xaa", disk],
];

const EMPTY: FileType = { name: "an empty file" };

/**
 * Returns the kind of a file, or undefined if it is of no known kind.
 *
 * @param start its first `START_LENGTH` bytes
 * @param end its last `END_LENGTH` bytes, if they are known
 */
export function fileTypeOf(
  start: Uint8Array,
  end: Uint8Array = new Uint8Array(),
): FileType | undefined {
  if (start.length === 0) return EMPTY;
  return SIGNATURES.find(([offset, bytes]) =>
    offset < 0 ? isAt(end, end.length + offset, bytes) : isAt(start, offset, bytes),
  )?.[2];
}

/** Whether a file begins as a snapshot does. */
export function isSnapshot(start: Uint8Array): boolean {
  return fileTypeOf(start) === snapshot;
}

/** Compares letters in any case, as HTML does. */
function isAt(part: Uint8Array, offset: number, bytes: string): boolean {
  if (offset < 0 || part.length < offset + bytes.length) return false;
  const found = String.fromCharCode(...part.subarray(offset, offset + bytes.length));
  return bytes.startsWith("<") ? found.toLowerCase() === bytes.toLowerCase() : found === bytes;
}
