import { SnapshotError } from "../error.js";

/** A duration: a number of milliseconds, or a number with a unit, such as `"30s"`, `"5m"`, `"24h"` or `"30d"`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

/** The units of durations, in milliseconds. */
const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The longest duration, in milliseconds: ten thousand years. */
const MAX_DURATION = 3_652_425 * UNITS.d;

/** Returns a duration in milliseconds. @throws {SnapshotError} `ERR_ARGUMENT` unless it is from `min` to `max` */
export function durationOf(name: string, value: unknown, min = 0, max = MAX_DURATION): number {
  const duration = typeof value === "string" ? parsed(value) : value;
  if (typeof duration === "number" && duration >= min && duration <= max) return duration;
  const found = ["number", "string"].includes(typeof value) ? JSON.stringify(value) : typeof value;
  const expected = `a duration from ${min} to ${max} milliseconds, such as "30s", "5m" or "30d"`;
  throw new SnapshotError("ERR_ARGUMENT", `${name}: expected ${expected}, found ${found}`);
}

function parsed(text: string): number | undefined {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(digits) * UNITS[unit as keyof typeof UNITS];
}
