// Other tools that store an image relative to a base, used as their documentation recommends.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import { goTool } from "../../../scripts/lib/go.mjs";
import { extract } from "./changes.mjs";
import { command, shell } from "./methods.mjs";

/** @typedef {import("./changes.mjs").Range} Range */

/**
 * Makes an overlay of what differs from the base, in clusters of 64 KiB (the default), then compresses it.
 */
const OVERLAY = `qemu-img create -q -f qcow2 -b "$1" -F raw "$3.partial"
qemu-img rebase -q -f qcow2 -b "$2" -F raw "$3.partial"
qemu-img convert -q -f qcow2 -O qcow2 -c -o compression_type=zstd -B "$2" -F raw "$3.partial" "$3"
rm "$3.partial"`;

/** Copies the base, and writes the overlay into the copy. */
const COMMIT = `curl -s -f --noproxy '*' -o "$2" "$1"
cp "$5" "$3" "$4"
qemu-img rebase -q -u -f qcow2 -b "$4" -F raw "$2"
qemu-img commit -q -f qcow2 "$2"`;

/** Chunks of desync, in a store that has those of the base. */
export class DesyncStore {
  /** The index of the base. */
  baseIndex;
  /** The folder of the new chunks of the last image, which a server may serve, and its index. */
  newChunks;
  index;
  #store;
  #ofBase = /** @type {ReadonlySet<string>} */ (new Set());

  /** @param {string} folder */
  constructor(folder) {
    this.#store = join(folder, "store");
    this.newChunks = join(folder, "new-chunks");
    this.baseIndex = join(folder, "base.caibx");
    this.index = join(folder, "image.caibx");
    mkdirSync(this.#store);
    mkdirSync(this.newChunks);
  }

  /** Adds the base. @param {string} base */
  async add(base) {
    const args = ["make", "-s", this.#store, this.baseIndex, base];
    await command("the base", [goTool("desync"), ...args], { outputs: [] }).time();
    this.#ofBase = new Set(this.#chunks());
  }

  /** Returns the method that adds an image. @param {string} image */
  make(image) {
    return command("desync", [goTool("desync"), "make", "-s", this.#store, this.index, image], {
      outputs: [this.index],
      after: () => this.#takeNew(),
    });
  }

  /** The bytes of the new chunks, and of the index. */
  get newBytes() {
    const chunks = filesIn(this.newChunks).map((path) => join(this.newChunks, path));
    return [...chunks, this.index].reduce((sum, path) => sum + statSync(path).size, 0);
  }

  /** Returns the method that restores the last image. @param {(path?: string) => string} url @param {string} base @param {string} restored @param {() => void} verify */
  extract(url, base, restored, verify) {
    const seed = ["--seed", `${this.baseIndex}:${base}`];
    const quick = ["-n", "64", "-e", "20", "-b", "20ms"];
    const args = ["extract", "-s", url(), ...seed, ...quick, url(this.index), restored];
    return command("desync", [goTool("desync"), ...args], { outputs: [restored], verify });
  }

  #chunks() {
    return filesIn(this.#store);
  }

  /** Moves new chunks out of the store, so that the next run has to make them again. */
  #takeNew() {
    rmSync(this.newChunks, { recursive: true });
    for (const chunk of this.#chunks()) {
      if (this.#ofBase.has(chunk)) continue;
      mkdirSync(dirname(join(this.newChunks, chunk)), { recursive: true });
      renameSync(join(this.#store, chunk), join(this.newChunks, chunk));
    }
    mkdirSync(this.newChunks, { recursive: true });
  }
}

/** Returns the paths of the files in a folder tree. @param {string} folder */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** Returns the method that makes a compressed overlay. @param {string} image @param {string} base @param {string} overlay */
export const makeOverlay = (image, base, overlay) =>
  command("qcow2", shell(OVERLAY, image, base, overlay), {
    outputs: [overlay, `${overlay}.partial`],
  });

/**
 * Returns the method that downloads an overlay and restores its image.
 *
 * @param {string} url
 * @param {string} base
 * @param {string} restored
 * @param {string} flag of `cp`
 * @param {() => void} verify
 */
export const commitOverlay = (url, base, restored, flag, verify) =>
  command("qcow2", shell(COMMIT, url, `${restored}.qcow2`, base, restored, flag), {
    outputs: [restored, `${restored}.qcow2`],
    verify,
  });

/**
 * Returns the method that makes a patch of the data of two images without their holes: an image may have 2 GiB.
 *
 * @param {string} image
 * @param {string} base
 * @param {{ extents: Range[], folder: string, seconds: number }} options
 */
export function makePatch(image, base, { extents, folder, seconds }) {
  const [from, to] = [join(folder, "base.data"), join(folder, "image.data")];
  if (!existsSync(from)) extract(base, extents, from);
  extract(image, extents, to);
  const path = join(folder, "image.patch");
  const args = ["-q", "-3", "-T2", "--long=31", `--patch-from=${from}`, to, "-o", path];
  return {
    path,
    method: command("zstd --patch-from", ["zstd", ...args], { outputs: [path], seconds }),
  };
}

/** The part of an image that a frame holds, in bytes. */
const PIECE = 2 ** 20;

/**
 * Returns the bytes of `zstd -3` over changed blocks: together, and those of each piece alone.
 *
 * @param {string} image
 * @param {Range[]} changed
 * @param {string} folder
 */
export async function compressedBlocks(image, changed, folder) {
  const blocks = join(folder, "blocks");
  mkdirSync(blocks);
  const together = join(folder, "changed");
  extract(image, changed, together);
  const pieces = /** @type {Map<number, Range[]>} */ (new Map());
  for (const { start, end } of changed) {
    for (let at = start; at < end; at = Math.min(end, (Math.floor(at / PIECE) + 1) * PIECE)) {
      const piece = Math.floor(at / PIECE);
      const part = { start: at, end: Math.min(end, (piece + 1) * PIECE) };
      pieces.set(piece, [...(pieces.get(piece) ?? []), part]);
    }
  }
  for (const [piece, ranges] of pieces) extract(image, ranges, join(blocks, `${piece}`));
  const zstd = ["zstd", "-q", "-3", "-f", "--no-check"];
  await command("", [...zstd, together], { outputs: [] }).time();
  await command("", [...zstd, "-r", blocks], { outputs: [] }).time();
  const byPiece = filesIn(blocks).filter((name) => name.endsWith(".zst"));
  const sizes = {
    together: statSync(`${together}.zst`).size,
    byPiece: byPiece.reduce((sum, name) => sum + statSync(join(blocks, name)).size, 0),
  };
  for (const path of [blocks, together, `${together}.zst`]) rmSync(path, { recursive: true });
  return sizes;
}
