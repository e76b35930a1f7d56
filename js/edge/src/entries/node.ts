/// <reference types="node" />
/** `hedgerow/node`: reads filters from files. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import { wrongType } from "../error.js";
import { FilterFile } from "../paths/filter-file.js";
import { PathFilter, type PathFilterReading } from "../paths/path-filter.js";

/** Bytes per read. */
const CHUNK_LENGTH = 2 ** 18;

/**
 * Reads a path filter from a file. An invalid file is read only until it is certainly invalid.
 *
 * @throws the errors of `node:fs`, and `HedgerowError` as `PathFilter.parse`; `ERR_ARGUMENT` if `path` is
 * not a string or a URL
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
  let file: FilterFile | undefined;
  try {
    file = new FilterFile(fstatSync(descriptor).size);
    readInto(file, descriptor);
  } catch (error) {
    file?.free();
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return new PathFilter(file, reading);
}

/** Reads to the actual end: a file may grow, and a pipe has no length. */
function readInto(file: FilterFile, descriptor: number): void {
  const chunk = new Uint8Array(CHUNK_LENGTH);
  for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
    file.append(chunk.subarray(0, read));
  }
}
