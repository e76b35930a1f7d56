/** Runs a cache in a separate process with a faulty disk or limited permissions. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import type { Sample } from "./cache.js";

/** A scenario and its files. */
export interface FaultScenario {
  readonly kind:
    | ("disk is full" | "disk fills up" | "disk has less room" | "disk may not be written")
    | ("disk is read-only" | "another user" | "image may not be read" | "is left open");
  readonly directory: string;
  /** A sample that fits on the disk, and one that does not. */
  readonly small: Sample;
  readonly large: Sample;
  /** Another sample of the same size as `large`. */
  readonly another: Sample;
  /** The source of the image that is restored when the disk is full. */
  readonly source: string;
}

/** A thrown error. */
export interface ThrownError {
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly causeCode: string | undefined;
}

/** Runs a scenario, and returns its result. The process must end by itself with code 0. */
export async function runScenario(
  scenario: FaultScenario,
  under: readonly string[] = [],
): Promise<unknown> {
  const script = fileURLToPath(new URL("cache-faults.mjs", import.meta.url));
  const node = [
    process.execPath,
    "--unhandled-rejections=strict",
    script,
    JSON.stringify(scenario),
  ];
  const [program, ...args] = [...under, ...node] as [string, ...string[]];
  const { stdout } = await promisify(execFile)(program, args, { timeout: 60_000 });
  return JSON.parse(stdout);
}
