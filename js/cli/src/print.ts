import { once } from "node:events";

/** Writes to standard output, and waits where its reader is slower than we are. */
export async function print(data: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(data)) await once(process.stdout, "drain");
}

/** A number as people read it: `24,441`. */
export function grouped(number: number): string {
  return number.toLocaleString("en");
}

/** Names and values as lines, the values below one another. */
export function table(rows: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(rows).map((name) => name.length));
  const lines = Object.entries(rows).map(([name, value]) => `${name.padEnd(width)}  ${value}\n`);
  return lines.join("");
}
