import { once } from "node:events";

import prettyBytes, { type Options } from "pretty-bytes";

/** Writes to standard output and waits until a slow reader has caught up. */
export async function print(data: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(data)) await once(process.stdout, "drain");
}

/** Formats a number with thousands separators: `24,441`. */
export function grouped(number: number): string {
  return number.toLocaleString("en");
}

/** Formats a size, rounded and exact: `2.1 MB (2,097,252 bytes)`. */
export function size(bytes: number, options: Options = {}): string {
  return `${prettyBytes(bytes, options)} (${grouped(bytes)} bytes)`;
}

/** Formats names and values as lines, with the values aligned. */
export function table(rows: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(rows).map((name) => name.length));
  const lines = Object.entries(rows).map(([name, value]) => `${name.padEnd(width)}  ${value}\n`);
  return lines.join("");
}

/** Formats rows of cells as aligned columns. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    }
  }
  const line = (row: readonly string[]) =>
    row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}

/** Formats a time: `2026-11-25 21:52:30 UTC`. */
export function utc(time: Date): string {
  const [day, clock = ""] = time.toISOString().split("T");
  return `${day} ${clock.slice(0, 8)} UTC`;
}

/** Returns the beginning of an identity, which is enough to recognise it. */
export function shortIdentity(identity: string): string {
  return identity.slice(0, 12);
}
