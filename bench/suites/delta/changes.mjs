// Deterministic changes of an image: places in its data, and data of installed files that are not in it.
import { closeSync, openSync, readSync, writeSync } from "node:fs";

import { dataExtents } from "../../../js/snapshot/dist/local/extents.js";
import { ifReadable, installedFiles } from "../../../scripts/lib/installed-files.mjs";
import { seededRandom } from "../../../tests/origin/random.mjs";

/** The unit of changes, in bytes: a block of a disk. */
export const BLOCK = 4096;

/** The lengths of clustered writes, in blocks: 16 KiB to 1 MiB. */
const CLUSTER = { min: 4, max: 256 };

/** Bytes that are copied at a time. */
const CHUNK = 2 ** 20;

/** Data of an image, over the minimum of files in it: the last file may be large, and metadata is data, too. */
const EXCESS = 1.1;

/** A range of an image: [start, end) in bytes. @typedef {{ start: number, end: number }} Range */

/** Returns the parts of an image that hold data. @param {string} image @param {number} size */
export async function dataOf(image, size) {
  const fd = openSync(image, "r");
  try {
    return [...((await dataExtents(fd, size)) ?? [{ start: 0, end: size }])];
  } finally {
    closeSync(fd);
  }
}

/** Returns the offsets of the blocks in ranges. @param {Range[]} ranges */
export const blocksOf = (ranges) =>
  ranges.flatMap(({ start, end }) =>
    Array.from({ length: Math.ceil((end - start) / BLOCK) }, (_, at) => start + at * BLOCK),
  );

/**
 * Returns writes of 16 KiB to 1 MiB, small ones as frequent as large ones on a logarithmic scale, to a share of the
 * blocks.
 *
 * @param {number[]} blocks
 * @param {number} share
 * @param {number} [seed]
 */
export function clusteredWrites(blocks, share, seed = 1) {
  const random = seededRandom(seed);
  const changed = new Uint8Array(blocks.length);
  let left = Math.ceil(share * blocks.length);
  while (left > 0) {
    const length = Math.round(CLUSTER.min * (CLUSTER.max / CLUSTER.min) ** random());
    let at = Math.floor(random() * blocks.length);
    for (let written = 0; written < length && left > 0; at = (at + 1) % blocks.length) {
      if (changed[at] === 1) continue;
      changed[at] = 1;
      written += 1;
      left -= 1;
    }
  }
  return rangesOf(blocks.filter((_, at) => changed[at] === 1));
}

/**
 * Returns writes of equal size at random places.
 *
 * @param {number[]} blocks
 * @param {{ count: number, bytes: number }} writes
 */
export function scatteredWrites(blocks, { count, bytes }) {
  const random = seededRandom(count);
  const starts = Array.from({ length: count }, () => Math.floor(random() * blocks.length));
  const written = starts.flatMap((start) => blocks.slice(start, start + bytes / BLOCK));
  return rangesOf([...new Set(written)].sort((a, b) => a - b));
}

/** Joins adjacent blocks. @param {number[]} offsets in order @returns {Range[]} */
function rangesOf(offsets) {
  const ranges = /** @type {Range[]} */ ([]);
  for (const offset of offsets) {
    const previous = ranges.at(-1);
    if (previous?.end === offset) previous.end += BLOCK;
    else ranges.push({ start: offset, end: offset + BLOCK });
  }
  return ranges;
}

/** Returns the number of bytes in ranges. @param {Range[]} ranges */
export const lengthOf = (ranges) => ranges.reduce((sum, { start, end }) => sum + end - start, 0);

/**
 * Writes the content of as many installed files as there is data in an image, beginning with those that the image does
 * not have.
 *
 * @param {string} path
 * @param {number} dataBytes minimum of data in the image
 */
export function writeDonor(path, dataBytes) {
  const target = openSync(path, "w");
  const buffer = Buffer.alloc(CHUNK);
  let [seen, written] = [0, 0];
  for (const { path: file, stats } of installedFiles()) {
    if (!stats.isFile()) continue;
    seen += stats.size;
    if (seen <= EXCESS * dataBytes) continue;
    const fd = ifReadable(() => openSync(file, "r"));
    if (fd === undefined) continue;
    for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer)) {
      writeSync(target, buffer, 0, count);
      written += count;
    }
    closeSync(fd);
    if (written > EXCESS * dataBytes) break;
  }
  closeSync(target);
}

/**
 * Overwrites ranges of an image with data of a donor, which is repeated if it is too short.
 *
 * @param {string} image
 * @param {Range[]} ranges
 * @param {string} donor
 * @param {number} [from] offset in the donor, in bytes
 */
export function applyWrites(image, ranges, donor, from = 0) {
  const [target, source] = [openSync(image, "r+"), openSync(donor, "r")];
  const buffer = Buffer.alloc(CHUNK);
  let position = from;
  for (const { start, end } of ranges) {
    for (let at = start; at < end; ) {
      const count = readSync(source, buffer, 0, Math.min(CHUNK, end - at), position);
      writeSync(target, buffer, 0, count, at);
      at += count;
      position = count === 0 ? 0 : position + count;
    }
  }
  for (const fd of [target, source]) closeSync(fd);
}

/**
 * Copies ranges of an image into a file, one after the other.
 *
 * @param {string} image
 * @param {Range[]} ranges
 * @param {string} path
 */
export function extract(image, ranges, path) {
  const [source, target] = [openSync(image, "r"), openSync(path, "w")];
  const buffer = Buffer.alloc(CHUNK);
  for (const { start, end } of ranges) {
    for (let at = start; at < end; ) {
      const count = readSync(source, buffer, 0, Math.min(CHUNK, end - at), at);
      if (count === 0) break;
      writeSync(target, buffer, 0, count);
      at += count;
    }
  }
  for (const fd of [source, target]) closeSync(fd);
}
