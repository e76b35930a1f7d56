import { InvalidArgumentError, Option } from "commander";

/** What all commands can be told. */
export interface OutputFlags {
  readonly json: boolean;
}

export const jsonOption = () => new Option("--json", "print one JSON object").default(false);

export function parseWhole(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number");
}

/** What a number may be of, each 1,024 of the one before. */
const UNITS = ["", "KIB", "MIB", "GIB", "TIB"];

/** A number of bytes, such as `65536`, `64KiB` or `1TiB`. */
export function parseSize(text: string): number {
  const [, digits, unit = ""] = /^(\d+) ?(KiB|MiB|GiB|TiB)?$/i.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError("expected bytes, KiB, MiB, GiB or TiB");
  return Number(digits) * 1024 ** UNITS.indexOf(unit.toUpperCase());
}
