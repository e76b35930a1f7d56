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

/** Parses a share, such as `0.5`. */
export function parseShare(text: string): number {
  if (/^(\d+|\d*\.\d+)$/.test(text) && Number(text) <= 1) return Number(text);
  throw new InvalidArgumentError("expected a number from 0 to 1");
}

/** Units of sizes, each 1,024 times the one before. */
const UNITS = ["", "KIB", "MIB", "GIB", "TIB"];

/** Parses a number of bytes, such as `65536`, `64KiB` or `1TiB`. */
export function parseSize(text: string): number {
  const [, digits, unit = ""] = /^(\d+) ?(KiB|MiB|GiB|TiB)?$/i.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError("expected bytes, KiB, MiB, GiB or TiB");
  return Number(digits) * 1024 ** UNITS.indexOf(unit.toUpperCase());
}
