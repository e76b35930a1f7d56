/** Options and parsers that commands of several groups share. */
import { InvalidArgumentError, Option } from "commander";

/** Flags of every command. */
export interface OutputFlags {
  readonly json: boolean;
}

export const jsonOption = () => new Option("--json", "print one JSON object").default(false);

export function parseWhole(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number");
}

/** Parses a number without a sign, such as `1.25`. */
export function parseNumber(text: string): number {
  if (/^(\d+|\d*\.\d+)$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a number");
}

/** Units of sizes, each 1,024 times the one before. */
const UNITS = "KMGT";

/** Parses a number of bytes, such as `65536`, `64KiB`, `512M` or `1TiB`. */
export function parseSize(text: string): number {
  const [, digits, unit] = /^(\d+) ?(?:([KMGT])(?:iB)?)?$/i.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError("expected bytes, KiB, MiB, GiB or TiB");
  const power = unit === undefined ? 0 : UNITS.indexOf(unit.toUpperCase()) + 1;
  return Number(digits) * 1024 ** power;
}

/** Units of durations, in milliseconds. */
const DURATIONS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses a duration, such as `30s` or `5m`. Returns milliseconds. */
export function parseDuration(text: string): number {
  const [, digits, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (unit !== undefined) return Number(digits) * DURATIONS[unit as keyof typeof DURATIONS];
  throw new InvalidArgumentError("expected a duration, such as 30s, 5m or 24h");
}
