// Whole images beside the zstd command, each time in a process of its own: `images.mjs IMAGE`. What is
// made lies beside the image. Prints its results as one JSON array.
import { execFileSync, spawnSync } from "node:child_process";
import { rmSync, statSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { summary } from "../../../scripts/lib/summary.mjs";
import { dataPieces, zstdFrame } from "./frames.mjs";

const ROUNDS = 5;

const image = process.argv[2] ?? "";
const inFolder = (/** @type {string} */ name) => join(dirname(image), name);
const [large, snapshot, zst, restored, other] = [
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
const own = (method, work, flags = []) => ({
  method,
  command: process.execPath,
  args: [...flags, here("work.mjs"), ...work],
});

/** @param {string} method @param {string[]} args @returns {Command} */
const zstd = (method, args) => ({ method, command: "zstd", args: ["-q", "-f", ...args] });

/** The same data in an image of 64 GiB. */
execFileSync("cp", ["--sparse=always", image, large]);
truncateSync(large, 2 ** 36);

/** @type {Record<string, Command[]>} */
const WORKLOADS = {
  "create, 4 GiB": [
    own("hedgerow", ["create", image, snapshot, "2"]),
    own("hedgerow, 1 worker", ["create", image, other, "1"]),
    zstd("zstd -3 -T2", ["-3", "-T2", image, "-o", zst]),
  ],
  "restore, 4 GiB": [
    own("hedgerow", ["restore", snapshot, restored, "2"]),
    own("hedgerow, 1 worker", ["restore", snapshot, restored, "1"]),
    zstd("zstd -d --sparse", ["-d", "--sparse", zst, "-o", restored]),
    zstd("zstd -d --sparse of a snapshot", ["-d", "--sparse", snapshot, "-o", restored]),
  ],
  "create, 64 GiB with the same data": [
    own("hedgerow", ["create", large, other, "2"]),
    own(
      "hedgerow, without koffi",
      ["create", large, other, "2"],
      ["--import", here("without-koffi.mjs")],
    ),
  ],
  "restore, 64 GiB with the same data": [own("hedgerow", ["restore", other, restored, "2"])],
};

/** Runs a command once, on what it has not made yet. @param {Command} command */
function time({ command, args }) {
  rmSync(restored, { force: true });
  const start = process.hrtime.bigint();
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  const elapsed = Number(process.hrtime.bigint() - start) / 1e6;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  return { elapsed, memory: Number(stdout) };
}

const results = [];
for (const [workload, commands] of Object.entries(WORKLOADS)) {
  const runs = commands.map(() => /** @type {ReturnType<typeof time>[]} */ ([]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, command] of commands.entries()) runs[index]?.push(time(command));
  }
  for (const [index, { method }] of commands.entries()) {
    const result = (
      /** @type {string} */ suite,
      /** @type {string} */ unit,
      /** @type {number[]} */ samples,
    ) => ({ suite, workload, method, unit, ...summary(samples) });
    const of = runs[index] ?? [];
    const suite = `snapshot-images-node${process.versions.node.split(".")[0]}`;
    results.push(
      result(
        suite,
        "ms",
        of.map(({ elapsed }) => elapsed),
      ),
    );
    if (method.startsWith("hedgerow")) {
      const memory = of.map(({ memory }) => memory / 2 ** 20);
      results.push(result(`${suite}, peak memory`, "MiB", memory));
    }
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
  results.push({ suite: "snapshot-size", workload, method, unit: "MB", ...summary([size / 1e6]) });
}
console.log(JSON.stringify(results));
