/**
 * Addresses in documents that stand for the reader's own. Ports may be taken on this machine, and hosts are
 * nobody's: each is replaced in all blocks of a document alike.
 */

import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";

/** Ports, where documents name them. */
const PORTS = /(?:localhost:|127\.0\.0\.1:|--port[ =]|PORT=)(\d{4,5})\b/g;

/** Below those that systems give to outgoing connections. */
const [FIRST, COUNT] = [12_000, 18_000];

export type Names = ReadonlyMap<string, string>;

/** Gives a file other names. */
export function renameIn(path: string, names: Names): void {
  writeFileSync(path, renamed(readFileSync(path, "utf8"), names));
}

/** A free port for each that a text names. */
export async function portsFor(text: string): Promise<Names> {
  const ports = new Map<string, string>();
  const taken = new Set<string>();
  for (const [, port = ""] of text.matchAll(PORTS)) {
    if (!ports.has(port)) ports.set(port, await freePort(taken));
  }
  return ports;
}

/** A text, with other names. */
export function renamed(text: string, names: Names): string {
  let result = text;
  for (const [name, other] of names) {
    // A number is not part of another one.
    const pattern = /^\d+$/.test(name) ? new RegExp(`\\b${name}\\b`, "g") : name;
    result = result.replaceAll(pattern, other);
  }
  return result;
}

/** A port that nothing listens on; chosen at random, as others choose meanwhile. */
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
