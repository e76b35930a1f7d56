// The restore suite: snapshots from a server, beside other tools that fetch images.
import { mkdtempSync, rmSync } from "node:fs";

import { PLAN } from "../../bench/js/restore/plan.mjs";
import { installPrograms } from "../lib/debian.mjs";
import { installGoTool } from "../lib/go.mjs";
import { inRoot } from "../lib/paths.mjs";
import { capture, StepError, step } from "../lib/run.mjs";

/** @typedef {import("../bench.mjs").Result} Result */

/** Where images and what is restored lie: in memory, so that no disk is measured. */
const FOLDER = "/dev/shm/hedgerow-bench-";

/** @param {import("../../bench/js/restore/plan.mjs").Plan} [plan] @returns {Promise<Result[]>} */
export async function benchRestore(plan = PLAN) {
  installPrograms("demo");
  installGoTool("desync");
  const folder = mkdtempSync(FOLDER);
  try {
    step(`restoring from a server, Node ${process.versions.node} (three quarters of an hour)`);
    const script = inRoot("bench", "js", "restore", "run.mjs");
    const args = [script, folder, JSON.stringify(plan)];
    const printed = capture(process.execPath, args, { showErrors: true });
    if (printed === undefined) throw new StepError("failed: the benchmark of restoring");
    return JSON.parse(printed);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
