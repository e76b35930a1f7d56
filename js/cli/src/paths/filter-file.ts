/** A file with a path filter: errors that name it, and its parameters for people and programs. */
import { HedgerowError, PathFilter, type PathFilterParams } from "hedgerow";

import { named } from "../files/input.js";
import { grouped } from "../print.js";

/** Returns the result of reading a filter. Errors name the file. */
export async function readingFilter<T>(file: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw namedFilter(error, file);
  }
}

/** Adds to an error which filter it is about. Returns the error. */
export function namedFilter(error: unknown, file: string): unknown {
  if (error instanceof HedgerowError) error.message = `${file}: ${error.message}`;
  return named(error, file, "a path filter");
}

/** Returns the parameters of a filter, as `--json` prints them. */
export function factsOf(file: Uint8Array) {
  const filter = PathFilter.parse(file);
  const { params } = filter;
  filter.free();
  const { version, wildcards = 0 } = params;
  return { version, wildcards, bytes: file.byteLength, ...bodyOf(params) };
}

/** Returns the parameters of the body, without further members that the file may have. */
export function bodyOf({ bloom, fuse }: PathFilterParams) {
  if (bloom !== undefined) {
    const { n, p, m, k, s } = bloom;
    return { kind: "bloom" as const, n, p, m, k, s };
  }
  const { n, m, l, q, s } = fuse;
  return { kind: "fuse" as const, n, m, l, q, s };
}

/** Returns a line about a filter, without a line end. */
export function summary(file: Uint8Array): string {
  const facts = factsOf(file);
  const { n, m, bytes } = facts;
  const each = n === 0 ? "" : ` (${(bytes / n).toFixed(1)} bytes a path)`;
  const size = `${grouped(n)} ${n === 1 ? "path" : "paths"} → ${grouped(bytes)} bytes${each}`;
  return facts.kind === "bloom"
    ? `${size}, p = ${facts.p}, m = ${grouped(m)}, k = ${facts.k}`
    : `${size}, p = 2^-24, m = ${grouped(m)}, fuse`;
}
