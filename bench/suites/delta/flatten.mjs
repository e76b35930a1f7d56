// Flattens a delta in S3.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { createSnapshot, inspectSnapshot } from "../../../js/snapshot/dist/index.js";
import { result, resultsOf } from "../../harness/results.mjs";
import { takeTurns } from "../../harness/turns.mjs";
import { hedgerow } from "./methods.mjs";
import { SUITE, times } from "./results.mjs";
import { startS3 } from "./s3.mjs";

/** @import { Change } from "./creates.mjs" */
/** @import { Run } from "./methods.mjs" */
/** @import { Context } from "./run.mjs" */

/** Returns the figures of two runs, one after the other. @param {Run} first @param {Run} second @returns {Run} */
const sumOf = (first, second) => ({
  elapsed: first.elapsed + second.elapsed,
  call: (first.call ?? 0) + (second.call ?? 0),
  processor: (first.processor ?? 0) + (second.processor ?? 0),
  memory: Math.max(first.memory ?? 0, second.memory ?? 0),
});

/**
 * Flattens the delta of the image that was changed last, and makes the full snapshot in other ways.
 *
 * @param {Context} context
 * @param {Change} change
 */
export async function measureFlatten({ inputs, plan }, { name, ranges }) {
  const { base: baseImage, image, folder } = inputs.ext4;
  const root = join(folder, "s3");
  mkdirSync(root);
  const s3 = await startS3(root);
  try {
    const [base, delta, whole] = ["base.vhs", "delta.vhs", "whole.vhs"].map(s3.url);
    const options = { s3: s3.options };
    await createSnapshot(baseImage, base ?? "", options);
    await createSnapshot(image, delta ?? "", { ...options, base: base ?? "", changed: ranges });
    const counted = (/** @type {import("./methods.mjs").Method} */ method) => ({
      ...method,
      async time() {
        const before = s3.bytes();
        return { ...(await method.time()), bytes: s3.bytes() - before };
      },
    });
    const outputs = { outputs: [] };
    const restored = hedgerow("", "restore", delta ?? "", inputs.ext4.restored, options);
    const uploaded = hedgerow("", "create", inputs.ext4.restored, whole ?? "", options, outputs);
    const methods = [
      hedgerow("hedgerow", "flatten", delta ?? "", whole ?? "", options, outputs),
      hedgerow("hedgerow, full", "create", image, whole ?? "", options, outputs),
      {
        name: "hedgerow, restore and create",
        time: async () => sumOf(await restored.time(), await uploaded.time()),
      },
    ];
    const timed = await takeTurns(methods.map(counted), plan.rounds, { warmUps: 0 });
    const about = { suite: `${SUITE}, flatten, bytes over the wire`, workload: name, unit: "kB" };
    const { fileSize } = await inspectSnapshot(whole ?? "", options);
    return [
      ...times("flatten", name, timed),
      ...resultsOf(about, timed, ({ bytes }) => bytes / 1000),
      result(about, "size of the snapshot", [fileSize / 1000]),
    ];
  } finally {
    rmSync(inputs.ext4.restored, { force: true });
    await s3.stop();
  }
}
