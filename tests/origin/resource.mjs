// Resources of an origin, which are bytes in memory or a file, and the ranges that requests ask for.
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/**
 * A resource. `read` returns at least one of the bytes from `position` to `end`, in `buffer` or where they are
 * already.
 *
 * @typedef {object} Resource
 * @property {number} size
 * @property {string} etag
 * @property {(buffer: Buffer, position: number, end: number) => Buffer} read
 * @property {() => void} close
 */

/** @param {Uint8Array | string} source bytes, or the path of a file @returns {Resource} */
export function openResource(source) {
  return typeof source === "string" ? openFile(source) : openBytes(source);
}

/** @param {Uint8Array} bytes @returns {Resource} */
function openBytes(bytes) {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const digest = createHash("sha256").update(all).digest("hex");
  return {
    size: all.length,
    etag: `"${digest.slice(0, 32)}"`,
    read: (buffer, position, end) =>
      all.subarray(position, Math.min(end, position + buffer.length)),
    close: () => {},
  };
}

/** @param {string} path @returns {Resource} */
function openFile(path) {
  const file = openSync(path, "r");
  const { size, mtimeMs, ino } = fstatSync(file);
  return {
    size,
    etag: `"${[ino, size, Math.trunc(mtimeMs)].map((part) => part.toString(16)).join("-")}"`,
    // Synchronously: the file is usually in the page cache, so that a copy is cheaper than a hop to a thread.
    read: (buffer, position, end) => {
      const length = readSync(file, buffer, 0, Math.min(end - position, buffer.length), position);
      if (length === 0) throw new Error(`${path}: expected more bytes, found its end`);
      return buffer.subarray(0, length);
    },
    close: () => closeSync(file),
  };
}

/** From `start` up to, but not including, `end`. @typedef {{ start: number, end: number }} Range */

/**
 * The one range that a `Range` header asks for. A header that asks for several, or for what is no
 * range, is as if it were not there, which HTTP allows.
 *
 * @param {string | undefined} header
 * @param {number} size
 * @returns {Range | "unsatisfiable" | undefined}
 */
export function parseRange(header, size) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "");
  if (match === null || match[0] === "bytes=-") return undefined;
  const [, first, last] = match;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return undefined;
  return start < size ? { start, end } : "unsatisfiable";
}
