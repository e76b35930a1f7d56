/// <reference types="node" />
/** What only Node has: files. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import { wrongType } from "../error.js";
import { FilterFile } from "../paths/filter-file.js";
import { PathFilter, type PathFilterReading } from "../paths/path-filter.js";
import "./instance.js";

/** How much is read at a time, in bytes. */
const CHUNK = 2 ** 18;

/**
 * Reads the file of a path filter into WebAssembly memory. No more is read of a file than it takes to refuse it.
 *
 * @throws what `node:fs` throws, and `HedgerowError` as `PathFilter.parse` does; `ERR_ARGUMENT` for a path
 * that is not a string or a URL
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
  if (typeof path !== "string" && !(path instanceof URL)) throw wrongType("a path or a URL", path);
  const descriptor = openSync(path, "r");
  const file = new FilterFile(fstatSync(descriptor).size);
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
  const chunk = new Uint8Array(CHUNK);
  for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
    file.append(chunk.subarray(0, read));
  }
}
