// The cache suite: hits, copies, opening, and hit rates of the cache of images, beside others.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { PLAN } from "../../bench/js/cache/plan.mjs";
import { installPrograms } from "../lib/debian.mjs";
import { inRoot } from "../lib/paths.mjs";
import { attempt, capture, StepError, step } from "../lib/run.mjs";

/** @typedef {import("../bench.mjs").Result} Result */

/** Where traces are played: in memory, so that no disk is waited for. */
const IN_MEMORY = "/dev/shm/hedgerow-bench-";

/** What is mounted in a space of its own goes with the last process in it, however that ends. */
const OWN_MOUNTS = ["unshare", "--mount"];

/** @param {import("../../bench/js/cache/plan.mjs").Plan} [plan] @returns {Promise<Result[]>} */
export async function benchCache(plan = PLAN) {
  installPrograms("cache");
  const target = inRoot("target");
  mkdirSync(target, { recursive: true });
  // The machine's own disk, which the temporary folder need not be on.
  const onDisk = mkdtempSync(join(target, "hedgerow-bench-"));
  const inMemory = mkdtempSync(IN_MEMORY);
  try {
    step(`a cache of images, Node ${process.versions.node} (six minutes, 8 GB of disk)`);
    const script = inRoot("bench", "js", "cache", "run.mjs");
    const run = [process.execPath, script, onDisk, inMemory, JSON.stringify(plan)];
    const [command = "", ...args] = [...ownMounts(), ...run];
    const printed = capture(command, args, { showErrors: true });
    if (printed === undefined) throw new StepError("failed: the benchmark of the cache");
    return JSON.parse(printed);
  } finally {
    for (const folder of [onDisk, inMemory]) rmSync(folder, { recursive: true });
  }
}

/** Nothing where the machine does not allow it: then nothing can be mounted either. */
function ownMounts() {
  const [command = "", ...args] = OWN_MOUNTS;
  return attempt(command, [...args, "true"]).status === 0 ? OWN_MOUNTS : [];
}
