/// <reference types="node" />
/** What only Node has: files. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import { FilterFile } from "../paths/filter-file.js";
import { PathFilter, type PathFilterReading } from "../paths/path-filter.js";
import "./instance.js";

/** How much is read at a time beyond the length that a file said it had, in bytes. */
const MORE = 2 ** 16;

/**
 * Reads the file of a path filter straight into WebAssembly memory.
 *
 * @throws what `node:fs` throws, and `HedgerowError` as `PathFilter.parse` does
 *
 * @example
 * ```ts
 * import { writeFileSync } from "node:fs";
 * import { buildPathFilter } from "hedgerow";
 * import { readPathFilterSync } from "hedgerow/node";
 *
 * writeFileSync("paths.filter", buildPathFilter(["/about"]));
 * readPathFilterSync("paths.filter").has("/about"); // true
 * ```
 */
export function readPathFilterSync(path: string | URL, reading?: PathFilterReading): PathFilter {
  const descriptor = openSync(path, "r");
  const file = new FilterFile();
  try {
    readInto(file, descriptor);
  } catch (error) {
    file.free();
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return new PathFilter(file, reading);
}

/** Reads to the end, wherever that is: a file may grow, and a pipe has no length. */
function readInto(file: FilterFile, descriptor: number): void {
  let room = file.reserve(fstatSync(descriptor).size);
  for (;;) {
    if (room.length === 0) {
      // At the end nothing is left to read, and nothing is taken for it.
      const more = new Uint8Array(MORE);
      const read = readSync(descriptor, more);
      if (read === 0) return;
      file.append(more.subarray(0, read));
      room = file.reserve(file.length);
    } else {
      const read = readSync(descriptor, room);
      if (read === 0) return;
      file.filled(read);
      room = room.subarray(read);
    }
  }
}
