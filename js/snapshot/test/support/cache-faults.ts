/** Caches in processes of their own, where something is wrong with the disk, or with what may be done. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import type { Sample } from "./cache.js";

/** What is wrong, and where. */
export interface Harm {
  readonly kind:
    | ("disk is full" | "disk fills up" | "disk has less room" | "disk may not be written")
    | ("another user" | "image may not be read" | "is left open");
  readonly directory: string;
  /** One that there is room for, and one that there is none for. */
  readonly small: Sample;
  readonly large: Sample;
  /** Another one that is as large. */
  readonly another: Sample;
  /** Where the one is that is restored when the disk is full, if that is another place than its file. */
  readonly source: string;
}

/** What was thrown. */
export interface Refusal {
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly causeCode: string | undefined;
}

/** Has a cache used, and returns what was found. The process must end by itself, and well. */
export async function useHarmed(harm: Harm, under: readonly string[] = []): Promise<unknown> {
  const script = fileURLToPath(new URL("cache-harm.mjs", import.meta.url));
  const node = [process.execPath, "--unhandled-rejections=strict", script, JSON.stringify(harm)];
  const [program, ...args] = [...under, ...node] as [string, ...string[]];
  const { stdout } = await promisify(execFile)(program, args, { timeout: 60_000 });
  return JSON.parse(stdout);
}
