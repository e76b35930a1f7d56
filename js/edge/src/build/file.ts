/** The file of a filter, and the values in its first line. */
import { HedgerowError, typeName } from "../error.js";
import type { BloomParams, FuseParams } from "../paths/path-filter.js";

const encoder = new TextEncoder();

const MIN_FALSE_POSITIVE_RATE = 1e-18;
const MAX_FALSE_POSITIVE_RATE = 0.5;
const MAX_HEADER_LENGTH = 2 ** 16;

/** Assembles the two lines of a filter file. */
export function fileOf(
  version: string,
  params: { bloom: BloomParams } | { fuse: FuseParams },
  wildcards: number,
  body: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const header = { version, ...params, ...(wildcards === 0 ? {} : { wildcards }) };
  const line = encoder.encode(`${JSON.stringify(header)}\n"`);
  const file = new Uint8Array(line.length + body.length + 1);
  file.set(line);
  file.set(body, line.length);
  file[file.length - 1] = 0x22;
  return file;
}

/** Returns whether builders accept a false-positive rate. */
export function isRate(rate: unknown): boolean {
  return (
    typeof rate === "number" && rate >= MIN_FALSE_POSITIVE_RATE && rate <= MAX_FALSE_POSITIVE_RATE
  );
}

/** Throws `ERR_ARGUMENT` unless `version` is a string for which the first line has room. */
export function checkVersion(version: unknown): void {
  // The other members of line 1 take up to 160 bytes.
  const isVersion = typeof version === "string";
  const length = isVersion ? encoder.encode(JSON.stringify(version)).length + 160 : 0;
  if (!isVersion || length > MAX_HEADER_LENGTH) {
    const expected = "a string that leaves line 1 below 65536 bytes";
    throw unexpected("version", expected, isVersion ? `a line of ${length}` : version);
  }
}

/** Returns the error for an option with a wrong value. */
export function unexpected(option: string, expected: string, value: unknown): HedgerowError {
  const isPrintable = typeof value === "number" || typeof value === "string";
  const found = isPrintable ? value : typeName(value);
  return new HedgerowError("ERR_ARGUMENT", `${option}: expected ${expected}, found ${found}`);
}
