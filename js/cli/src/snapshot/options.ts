import { InvalidArgumentError, Option } from "commander";

/** What all commands can be told. */
export interface OutputFlags {
  readonly json: boolean;
}

/** What commands that read a snapshot can be told. */
export interface ReadFlags extends OutputFlags {
  readonly digest?: string;
}

/** What commands that work for long can be told. */
export interface WorkFlags {
  readonly workers?: number;
}

export const jsonOption = () => new Option("--json", "print one JSON object").default(false);

export const digestOption = () =>
  new Option("--digest <hex>", "refuse the snapshot unless this is its digest");

export const workersOption = () =>
  new Option("--workers <number>", "how many threads work (default: the cores)").argParser(
    parseWhole,
  );

/** A file: there is no snapshot of what has no end and no size. */
export function parseFile(text: string): string {
  if (text !== "-") return text;
  throw new InvalidArgumentError("expected a file, not standard input or output");
}

export function parseWhole(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number");
}

/** A number of bytes, such as `65536` or `64KiB`. */
export function parseSize(text: string): number {
  const [, digits, unit] = /^(\d+) ?(KiB|MiB)?$/i.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError("expected bytes, KiB or MiB");
  const powers: Record<string, number> = { KIB: 2 ** 10, MIB: 2 ** 20 };
  return Number(digits) * (powers[unit?.toUpperCase() ?? ""] ?? 1);
}
