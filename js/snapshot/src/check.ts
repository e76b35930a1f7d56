/**
 * Checks of arguments and options. A function lists its options in a table, each with its check. It refuses every other
 * name and every wrong value with `ERR_ARGUMENT`. An option that is `undefined` counts as not given.
 */
import { SnapshotError } from "./error.js";

/** Throws unless the value of an option is valid. It is not called with `undefined`. */
export type Check = (name: string, value: unknown) => void;

/** The options of a function, each with its check. */
export type Checks<Options> = { readonly [Name in keyof Options]-?: Check };

/** Returns a copy of the options that are given. @throws {SnapshotError} `ERR_ARGUMENT` if one is unknown or wrong */
export function checkOptions<Options extends object>(
  options: Options,
  checks: Checks<Options>,
): Options {
  object(checks)("options", options);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Options;
}

/** Returns the check of an object with known members. */
export function object<Members>(checks: Checks<Members>): Check {
  return (name, value) => {
    checkObject(name, value);
    for (const [key, member] of Object.entries(value)) {
      if (!Object.hasOwn(checks, key)) throw invalid(name, "known options", JSON.stringify(key));
      const path = name === "options" ? key : `${name}.${key}`;
      if (member !== undefined) checks[key as keyof Members](path, member);
    }
  };
}

/** @throws {SnapshotError} `ERR_ARGUMENT` for a `Headers` or a `Map`, too: its entries are not properties */
export function checkObject(name: string, value: unknown): asserts value is object {
  if (typeof value === "object" && value !== null && !(Symbol.iterator in value)) return;
  throw invalid(name, "an object", Array.isArray(value) ? "an array" : typeName(value));
}

/** Returns a check of a condition. Its message names the type of a wrong value, which may be secret. */
export function is(expected: string, isValid: (value: unknown) => boolean): Check {
  return (name, value) => {
    if (!isValid(value)) throw invalid(name, expected, typeName(value));
  };
}

export const BOOLEAN = is("true or false", (value) => typeof value === "boolean");
export const FUNCTION = is("a function", (value) => typeof value === "function");
export const SIGNAL = is("an AbortSignal", (value) => value instanceof AbortSignal);
export const DIGEST = is(
  "64 hexadecimal digits",
  (value) => typeof value === "string" && /^[0-9a-f]{64}$/i.test(value),
);

/** Returns the check of a whole number. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Check {
  return (name, value) => checkInteger(name, value, min, max);
}

/** @throws {SnapshotError} `ERR_ARGUMENT` unless a value is an integer from `min` to `max` */
export function checkInteger(name: string, value: unknown, min: number, max: number): void {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  const found = typeof value === "number" ? `${value}` : typeName(value);
  throw invalid(name, `a whole number from ${min} to ${max}`, found);
}

/** Returns the check of one of several texts. */
export function oneOf(...choices: readonly string[]): Check {
  return (name, value) => {
    if (choices.includes(value as string)) return;
    const expected = choices.map((choice) => JSON.stringify(choice)).join(" or ");
    const found = typeof value === "string" ? JSON.stringify(value) : typeName(value);
    throw invalid(name, expected, found);
  };
}

/** Returns the check of a text of at most `maxLength` characters. */
export function text(maxLength: number): Check {
  return (name, value) => {
    const isText = typeof value === "string";
    if (isText && value.length <= maxLength && !/\p{Control}|\p{Surrogate}/u.test(value)) return;
    const expected = `at most ${maxLength} characters without control characters`;
    throw invalid(name, expected, isText ? `${value.length} characters` : typeName(value));
  };
}

/** A duration: a number of milliseconds, or a number with a unit, such as `"30s"`, `"5m"`, `"24h"` or `"30d"`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

/** The units of durations, in milliseconds. */
const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The longest duration, in milliseconds: ten thousand years. */
const MAX_DURATION = 3_652_425 * UNITS.d;

/** Returns the check of a duration from `min` to `max` milliseconds. */
export function duration(min = 0, max = MAX_DURATION): Check {
  return (name, value) => {
    const found = typeof value === "number" || typeof value === "string";
    const milliseconds = found ? millisecondsOf(value as Duration) : Number.NaN;
    if (milliseconds >= min && milliseconds <= max) return;
    const expected = `a duration from ${min} to ${max} milliseconds, such as "30s", "5m" or "30d"`;
    throw invalid(name, expected, found ? JSON.stringify(value) : typeName(value));
  };
}

/** Returns a duration in milliseconds, or `NaN` for a text that is not a duration. */
export function millisecondsOf(value: Duration): number {
  if (typeof value === "number") return value;
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value) ?? [];
  return Number(digits) * UNITS[unit as keyof typeof UNITS];
}

/** @throws {SnapshotError} `ERR_SNAPSHOT_DIGEST` if a snapshot has another identity than the caller expects */
export function checkPinned(name: string, expected: string | undefined, found: string): void {
  if (expected === undefined || expected.toLowerCase() === found) return;
  const message = `${name}: expected the snapshot with identity ${expected}, found ${found}`;
  throw new SnapshotError("ERR_SNAPSHOT_DIGEST", message);
}

/** Returns the error for an argument that is not as expected. */
export function invalid(name: string, expected: string, found: string): SnapshotError {
  return new SnapshotError("ERR_ARGUMENT", `${name}: expected ${expected}, found ${found}`);
}

function typeName(value: unknown): string {
  return value === null ? "null" : typeof value;
}
