/**
 * Replaces addresses in all blocks of a document: ports may be in use on this machine, and example hosts do not
 * exist.
 */

import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";

/** Ports in documents. */
const PORTS = /(?:localhost:|127\.0\.0\.1:|--port[ =]|PORT=)(\d{4,5})\b/g;

/** Below the range of ephemeral ports. */
const [FIRST, COUNT] = [12_000, 18_000];

export type Replacements = ReadonlyMap<string, string>;

/** Applies replacements to a file. */
export function replaceIn(path: string, names: Replacements): void {
  writeFileSync(path, withReplacements(readFileSync(path, "utf8"), names));
}

/** Chooses a free port for each port in a text. */
export async function portsFor(text: string): Promise<Replacements> {
  const ports = new Map<string, string>();
  const taken = new Set<string>();
  for (const [, port = ""] of text.matchAll(PORTS)) {
    if (!ports.has(port)) ports.set(port, await freePort(taken));
  }
  return ports;
}

/** Returns a text with replacements applied. */
export function withReplacements(text: string, names: Replacements): string {
  let result = text;
  for (const [name, other] of names) {
    // A number matches only as a whole.
    const pattern = /^\d+$/.test(name) ? new RegExp(`\\b${name}\\b`, "g") : name;
    result = result.replaceAll(pattern, other);
  }
  return result;
}

/** Returns a port that is not in use; random, since other tests choose ports at the same time. */
async function freePort(taken: Set<string>): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (taken.has(String(port)) || !(await isFree(port))) continue;
    taken.add(String(port));
    return String(port);
  }
  throw new Error("expected a free port");
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
