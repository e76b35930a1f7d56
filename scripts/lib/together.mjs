// Doing several things at the same time though each waits for what it runs: some keep the processors busy,
// and others wait for the network.
import { spawnSync } from "node:child_process";

import { inRoot } from "./paths.mjs";
import { StepError } from "./run.mjs";

/**
 * A function of a module in `scripts`, without arguments.
 *
 * @typedef {[module: string, name: string]} Call
 */

/** Calls functions, each in a process of its own, and returns when all have ended. @param {Call[]} calls */
export function together(calls) {
  if (calls.length === 0) return;
  const args = [inRoot("scripts", "lib", "call.mjs"), JSON.stringify(calls)];
  const { status } = spawnSync(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new StepError("one of the steps above failed");
}
