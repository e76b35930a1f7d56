import { MAX_ID_LENGTH } from "../check.js";
import type { FleetError } from "../error.js";
import { MAX_BYTES, MAX_TIME } from "./check-workload.js";

/** A line of a trace. */
export interface TraceStart {
  readonly time: number;
  readonly identity: string;
  readonly bytes: number;
  readonly duration: number;
}

/**
 * Reads a line of a trace.
 *
 * @param earliest the minimum time
 * @param fail makes the error for a field
 */
export function startOf(
  line: string,
  earliest: number,
  fail: (field: string, expected: string, found: string) => FleetError,
): TraceStart {
  const found = objectOf(line);
  if (found === undefined) throw fail("line", "a JSON object", line.slice(0, 100));
  const number = (field: string, min: number, max: number): number => {
    const value = found[field];
    if (typeof value === "number" && value >= min && value <= max) return value;
    throw fail(field, `a number from ${min} to ${max}`, textOf(value));
  };
  const { identity } = found;
  if (typeof identity !== "string" || identity === "" || identity.length > MAX_ID_LENGTH) {
    throw fail("identity", `a text of 1 to ${MAX_ID_LENGTH} characters`, textOf(identity));
  }
  return {
    time: number("time", earliest, MAX_TIME),
    identity,
    bytes: number("bytes", 1, MAX_BYTES),
    duration: number("duration", 0, MAX_TIME),
  };
}

function objectOf(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 100) ?? "nothing";
}
