import { SnapshotError } from "../error.js";

/** The maximum number of ranges in a trace. */
export const MAX_RANGES = 2 ** 15;

/** Parts of an image in the order in which they were first read, as an offset and a length in bytes each. */
export interface Trace {
  readonly version: 1;
  readonly ranges: readonly (readonly [offset: number, length: number])[];
}

/** Checks a trace. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkedTrace(value: unknown): Trace {
  const { version, ranges } = Object(value) as { version?: unknown; ranges?: unknown };
  const isOffset = (one: unknown) => Number.isSafeInteger(one) && (one as number) >= 0;
  const isRange = (one: unknown) => Array.isArray(one) && one.length === 2 && one.every(isOffset);
  const isValid =
    version === 1 && Array.isArray(ranges) && ranges.length <= MAX_RANGES && ranges.every(isRange);
  if (isValid) return { version, ranges: ranges.map(([offset, length]) => [offset, length]) };
  throw new SnapshotError("ERR_ARGUMENT", "trace: expected a trace of version 1");
}
