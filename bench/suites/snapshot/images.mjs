// Measures whole images and the zstd command, each run in a process of its own: `images.mjs IMAGE PLAN` with the plan as
// JSON. Writes its files beside the image. Prints its results as a JSON array.
import { execFileSync } from "node:child_process";
import { rmSync, statSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { summary } from "../../../scripts/lib/summary.mjs";
import { runOnce, takeTurns } from "../../harness/turns.mjs";
import { dataPieces, zstdFrame } from "./frames.mjs";
import { LARGER } from "./plan.mjs";

/** @typedef {import("../../harness/results.mjs").Measured} Measured */

const [, , image = "", plan = ""] = process.argv;
/** @type {import("./plan.mjs").Plan} */
const { imageBytes, dataBytes, rounds } = JSON.parse(plan);
const inFolder = (/** @type {string} */ name) => join(dirname(image), name);
const [large, snapshot, zst, restored, scratch] = [
  inFolder("large.ext4"),
  inFolder("image.vhs"),
  inFolder("image.zst"),
  inFolder("restored"),
  inFolder("other.vhs"),
];
const here = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));

/** @typedef {{ method: string, command: string, args: string[] }} Command */

/**
 * @param {string} method
 * @param {string[]} work
 * @param {string[]} flags of Node
 * @returns {Command}
 */
const hedgerow = (method, work, flags = []) => ({
  method,
  command: process.execPath,
  args: [...flags, here("work.mjs"), ...work],
});

/** @param {string} method @param {string[]} args @returns {Command} */
const zstd = (method, args) => ({ method, command: "zstd", args: ["-q", "-f", ...args] });

// The same data in a larger image.
execFileSync("cp", ["--sparse=always", image, large]);
truncateSync(large, LARGER * imageBytes);
const inLarger = `${LARGER} times as large, the same data`;

/** @type {Record<string, Command[]>} */
const WORKLOADS = {
  create: [
    hedgerow("hedgerow", ["create", image, snapshot, "2"]),
    hedgerow("hedgerow, 1 worker", ["create", image, scratch, "1"]),
    zstd("zstd -3 -T2", ["-3", "-T2", image, "-o", zst]),
  ],
  restore: [
    hedgerow("hedgerow", ["restore", snapshot, restored, "2"]),
    hedgerow("hedgerow, 1 worker", ["restore", snapshot, restored, "1"]),
    zstd("zstd -d --sparse", ["-d", "--sparse", zst, "-o", restored]),
    zstd("zstd -d --sparse of a snapshot", ["-d", "--sparse", snapshot, "-o", restored]),
  ],
  [`create, ${inLarger}`]: [
    hedgerow("hedgerow", ["create", large, scratch, "2"]),
    hedgerow(
      "hedgerow, without koffi",
      ["create", large, scratch, "2"],
      ["--import", here("without-koffi.mjs")],
    ),
  ],
  [`restore, ${inLarger}`]: [hedgerow("hedgerow", ["restore", scratch, restored, "2"])],
};

/** Runs a command once, after removing its output. @param {Command} command */
function time({ command, args }) {
  rmSync(restored, { force: true });
  const start = process.hrtime.bigint();
  const printed = runOnce(command, ...args);
  const elapsed = Number(process.hrtime.bigint() - start) / 1e6;
  return { elapsed, memory: Number(printed) };
}

const suite = `snapshot-images-node${process.versions.node.split(".")[0]}`;
const details = { imageBytes, dataBytes };
const results = /** @type {Measured[]} */ ([]);
for (const [workload, commands] of Object.entries(WORKLOADS)) {
  const methods = commands.map((command) => ({ name: command.method, time: () => time(command) }));
  for (const { name: method, samples, why } of await takeTurns(methods, rounds, { warmUps: 0 })) {
    if (why !== undefined) {
      results.push({ suite, workload, method, why });
      continue;
    }
    const times = summary(samples.map(({ elapsed }) => elapsed));
    results.push({ suite, workload, method, unit: "ms", ...times, details });
    if (!method.startsWith("hedgerow")) continue;
    const memory = summary(samples.map(({ memory: bytes }) => bytes / 2 ** 20));
    results.push({
      suite: `${suite}, peak memory`,
      workload,
      method,
      unit: "MiB",
      ...memory,
      details,
    });
  }
}

let frames = 0;
for (const piece of dataPieces(image)) frames += zstdFrame(piece).length;
const sizes = {
  hedgerow: statSync(snapshot).size,
  "zstd -3, frames of 1 MiB": frames,
  "zstd -3, one frame": statSync(zst).size,
};
for (const [method, size] of Object.entries(sizes)) {
  const workload = "the file of a snapshot";
  const figures = summary([size / 1e6]);
  results.push({ suite: "snapshot-size", workload, method, unit: "MB", ...figures, details });
}
console.log(JSON.stringify(results));
