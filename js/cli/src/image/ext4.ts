/**
 * Makes ext4 file systems: `mke2fs` creates an empty one, and `debugfs` fills it. Neither mounts anything or needs
 * privileges. All names, owners and times come from the tree, and the clocks of both programs stand still, so that the
 * same tree gives the same bytes.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { type EngineName, runEngine } from "../engine.js";
import { CliError } from "../error.js";
import { SCRIPT, Script } from "./script.js";
import type { Before, Content, Node } from "./tree.js";

const BLOCK = 4096;

/** The size of an inode, in bytes. */
const INODE = 256;

/** The maximum number of inodes in a group of blocks. */
const INODES_IN_GROUP = BLOCK * 8;

/** The bytes that a group of blocks covers. */
const GROUP = BLOCK * 8 * BLOCK;

/** A smaller file system has no journal. */
const MIN_SIZE = 16 * 2 ** 20;

/** Extended attributes of more bytes need a block. */
const XATTRS_IN_INODE = 64;

/** Targets of symbolic links of more bytes need a block. */
const TARGET_IN_INODE = 59;

/** The maximum number of blocks in an extent. */
const EXTENT = 2 ** 15;

/** The numbers of extents in an inode and in a block. A block has room for another, and is split before it is full. */
const [EXTENTS_IN_INODE, EXTENTS_IN_BLOCK] = [4, 339];

const ZEROS = Buffer.alloc(BLOCK);

/** Decides the layout in place of the files of the host. */
const CONFIG = `[defaults]
  base_features = sparse_super,large_file,filetype,dir_index,ext_attr
  inode_size = ${INODE}
[fs_types]
  ext4 = {
    features = has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize
  }
`;

/** The clocks stand a second after the epoch: zero means that they run. */
const CLOCKS = { E2FSPROGS_FAKE_TIME: "1", E2FSCK_TIME: "1", SOURCE_DATE_EPOCH: "1" };

/**
 * The data of a file, of which the blocks are counted that hold more than zeros: debugfs writes no others. The size of an
 * image follows from these, because the holes of a file depend on the file system of the host.
 */
export class CountedContent implements Content {
  blocks = 0;
  extents = 0;
  #last = -1;
  /** The number of blocks in the last extent. */
  #length = EXTENT;

  /** @param file its name in the private folder */
  constructor(readonly file: string) {}

  /** Counts bytes of the file, which follow those before. */
  count(bytes: Buffer, offset: number): void {
    for (let at = 0; at < bytes.length; ) {
      const block = Math.floor((offset + at) / BLOCK);
      const end = Math.min(bytes.length, (block + 1) * BLOCK - offset);
      if (block !== this.#last && !isZero(bytes.subarray(at, end))) this.#countBlock(block);
      at = end;
    }
  }

  #countBlock(block: number): void {
    const isNext = block === this.#last + 1 && this.#length < EXTENT;
    if (!isNext) this.extents += 1;
    this.#length = isNext ? this.#length + 1 : 1;
    this.blocks += 1;
    this.#last = block;
  }
}

const isZero = (bytes: Buffer) => bytes[0] === 0 && bytes.equals(ZEROS.subarray(0, bytes.length));

interface Ext4Options {
  /** A private folder with the files of the tree. The image in it is `image`. */
  readonly folder: string;
  /** What the image holds. Missing if there is no image yet. */
  readonly before: Before | undefined;
  /** Bytes to leave free in a new image. */
  readonly free: number;
  readonly signal: AbortSignal;
}

/** Makes the image in the folder hold a tree. @throws {CliError} `ERR_OUTPUT`, `ERR_SOURCE` */
export async function writeExt4(root: Node, options: Ext4Options): Promise<void> {
  const { folder, before, free, signal } = options;
  const script = new Script(folder, before, root);
  const env = { ...CLOCKS, MKE2FS_CONFIG: "mke2fs.conf" };
  const running = { what: "write the file system", signal, cwd: folder, env };
  const run = (name: EngineName, ...args: string[]) => runEngine(name, args, running);
  const debug = async (options: string) => {
    // The exit code is always zero. It names its version, and then what failed.
    const { text: messages } = await run("sh", "-c", `exec debugfs -w ${options} image >/dev/null`);
    const [, failure = ""] = messages().split("\n");
    if (failure === "") return;
    const isFull = before !== undefined && /Could not allocate|No free space/.test(failure);
    const hint = isFull ? "; make the base with a larger --free, or leave out --base" : "";
    throw new CliError("ERR_OUTPUT", `cannot write the file system: ${failure}${hint}`);
  };
  if (before === undefined) {
    writeFileSync(join(folder, "mke2fs.conf"), CONFIG);
    await run("mke2fs", ...formatOf(root, free, script.digest));
  }
  const runAlone = async (request: string) => {
    // Arguments of Node are UTF-8, and names need not be.
    writeFileSync(join(folder, "request"), request, "latin1");
    await debug('-R "$(cat request)"');
  };
  for (const request of script.first) await runAlone(request);
  await debug(`-f ${SCRIPT}`);
  for (const request of script.last) await runAlone(request);
  // debugfs does not free the attributes of what it removes. Code 1 means that they are free now.
  if (before !== undefined) await run("sh", "-c", "e2fsck -f -p image || test $? -eq 1");
  await run("e2fsck", "-f", "-n", "image");
}

/** Returns the arguments of mke2fs. */
function formatOf(root: Node, free: number, seed: Buffer): string[] {
  const id = Buffer.from(seed);
  // A UUID of version 8, whose other bits mean what its maker wants.
  id[6] = (id[6]! & 0x0f) | 0x80;
  id[8] = (id[8]! & 0x3f) | 0x80;
  const uuid = (at: number) =>
    id.toString("hex", at, at + 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  const { inodes, blocks, journal } = sizeOf(root, free);
  const zeroed = "assume_storage_prezeroed=1,root_owner=0:0";
  return [
    ...["-q", "-t", "ext4", "-b", `${BLOCK}`, "-m", "0", "-N", `${inodes}`],
    ...["-J", `size=${journal}`],
    ...["-U", uuid(0), "-E", `hash_seed=${uuid(16)},${zeroed}`, "image", `${blocks}`],
  ];
}

/** Returns the numbers of inodes and blocks that a tree needs, and the size of the journal in MiB. */
function sizeOf(root: Node, free: number) {
  const nodes = new Set<Node>();
  const add = (node: Node) => {
    nodes.add(node);
    for (const { node: child } of node.children?.values() ?? []) add(child);
  };
  add(root);
  let content = 0;
  for (const node of nodes) content += BLOCK * blocksOf(node);
  const inodes = nodes.size + 16 + Math.ceil(free / 16_384);
  const journal = content + free < GROUP ? 4 : 32;
  // mke2fs leaves out a last group with room for little more than its own tables.
  const lost = 64 * BLOCK + Math.min(inodes, INODES_IN_GROUP) * INODE;
  // Rounding takes less than a hundredth.
  const needed = 1.01 * (content + inodes * INODE) + lost + free + (journal + 1) * 2 ** 20;
  const all = Math.max(needed, MIN_SIZE);
  const groups = Math.ceil(all / GROUP);
  // Each group has two bitmaps and a descriptor. Some have copies of all descriptors.
  const blocks = Math.ceil(all / BLOCK) + groups * (3 + Math.ceil(groups / 64));
  return { inodes, blocks, journal };
}

/** Returns the number of blocks that an object needs besides its inode. */
function blocksOf({ content, target, xattrs, children }: Node): number {
  let blocks = content === undefined ? 0 : content.blocks + extentBlocksOf(content.extents);
  if (target.length > TARGET_IN_INODE) blocks += 1;
  let attributes = 0;
  for (const [name, value] of xattrs) attributes += 20 + name.length + value.length;
  if (attributes > XATTRS_IN_INODE) blocks += 1;
  if (children === undefined) return blocks;
  let bytes = 24;
  for (const name of children.keys()) bytes += 12 + name.length;
  // A name does not cross the end of a block.
  const names = Math.ceil(bytes / (BLOCK - 280));
  // Files that are written between two blocks of a directory keep these apart.
  return blocks + names + extentBlocksOf(names);
}

/** Returns the number of blocks with a tree of extents, of which the inode holds the root. */
function extentBlocksOf(extents: number): number {
  let blocks = 0;
  for (let left = extents; left > EXTENTS_IN_INODE; blocks += left) {
    left = Math.ceil(left / EXTENTS_IN_BLOCK);
  }
  return blocks;
}
