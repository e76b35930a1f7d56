// Runs synchronous functions in parallel processes: some are bound by the processor, others by the network.
import { spawnSync } from "node:child_process";

import { inRoot } from "./paths.mjs";
import { StepError } from "./run.mjs";

/**
 * A function without arguments in a module of `scripts`.
 *
 * @typedef {[module: string, name: string]} Call
 */

/** Calls each function in its own process and waits for all. @param {Call[]} calls */
export function together(calls) {
  if (calls.length === 0) return;
  const args = [inRoot("scripts", "lib", "call.mjs"), JSON.stringify(calls)];
  const { status } = spawnSync(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new StepError("one of the steps above failed");
}
