/** Text for people and programs: sizes, tables, JSON, and untrusted text without control characters. */
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

/** Control characters and bidirectional formatting characters, which a terminal acts on. */
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Escapes control and bidirectional characters in untrusted text, for display in a terminal. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Joins the lines of a message into one and escapes its control characters. */
export function oneLine(message: string): string {
  return escapeControls(message.trim().replace(/\s*\n\s*/g, " "));
}

/** Formats a value as one line of JSON. Control characters occur only in strings and are escaped. */
export function jsonOf(value: unknown): string {
  return `${escapeControls(JSON.stringify(value))}\n`;
}
