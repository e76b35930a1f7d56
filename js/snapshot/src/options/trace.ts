import { SnapshotError } from "../error.js";

/** The maximum number of ranges in a trace. */
export const MAX_RANGES = 2 ** 15;

/** The parts of an image that a disk read first. */
export interface Trace {
  /** The version of this format. */
  readonly version: 1;
  /** The offset and length of each part in bytes, in the order of the first reads. */
  readonly ranges: readonly (readonly [offset: number, length: number])[];
}

/** Returns a copy of a trace. @throws {SnapshotError} `ERR_ARGUMENT` if it is none */
export function checkedTrace(trace: unknown): Trace {
  const ranges = rangesOf(trace);
  if (ranges !== undefined) return { version: 1, ranges };
  throw new SnapshotError("ERR_ARGUMENT", "trace: expected a trace of version 1");
}

function rangesOf(trace: unknown): Trace["ranges"] | undefined {
  try {
    const { version, ranges } = trace as Trace;
    if (version !== 1 || !Array.isArray(ranges) || ranges.length > MAX_RANGES) return undefined;
    const copies = ranges.map(([offset, length]) => [offset, length] as const);
    const isOffset = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
    return copies.every((range) => range.every(isOffset)) ? copies : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether the value of the option is a location, and not a trace. */
export function isPlace(trace: unknown): trace is string | URL {
  try {
    return typeof trace === "string" || trace instanceof URL;
  } catch {
    return false;
  }
}
