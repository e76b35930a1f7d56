// Makes snapshots of a container image, and of a version with a new layer.
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { gather } from "../../../scripts/lib/file-systems.mjs";
import { inRoot } from "../../../scripts/lib/paths.mjs";
import { NODE, result, resultsOf } from "../../harness/results.mjs";
import { roundLogger, runOnce, takeTurns, timeOf } from "../../harness/turns.mjs";
import { FREE_BYTES } from "./suite.mjs";

/** @import { Plan } from "./suite.mjs" */

const BIN = inRoot("js", "cli", "bin", "hedgerow.js");

const SUITE = `image-${NODE}`;

/** @param {import("./suite.mjs").Parameters} parameters */
export async function measure({ folder, plan }) {
  const path = (/** @type {string} */ name) => join(folder, name);
  const layer = makeLayout(folder, plan);
  const make = (/** @type {string} */ tag, /** @type {string[]} */ ...args) =>
    runOnce(process.execPath, BIN, "image", "create", `oci:${path("layout")}:${tag}`, ...args);
  const free = ["--free", `${FREE_BYTES}`];
  const methods = [
    { name: "hedgerow", time: () => timeOf(() => make("1", path("1.vhs"), ...free)) },
    { name: "umoci, mke2fs, zstd", time: () => timeOf(() => makeByHand(folder, plan)) },
  ];
  const onRound = roundLogger("images", plan.rounds);
  const timed = await takeTurns(methods, plan.rounds, { warmUps: 0, onRound });
  make("2", path("2.vhs"), "--base", path("1.vhs"));
  make("2", path("alone.img"), ...free);
  const alone = [path("alone.img"), path("alone.vhs"), "--base", path("1.vhs")];
  runOnce(process.execPath, BIN, "snapshot", "create", ...alone);
  runOnce("zstd", "-3", "-q", layer, "-o", path("layer.zst"));
  const sizes = {
    hedgerow: "2.vhs",
    "two images": "alone.vhs",
    "zstd -3 of the layer": "layer.zst",
  };
  const bytes = { suite: `${SUITE}, a new layer`, workload: "delta", unit: "MB" };
  return [
    ...resultsOf({ suite: SUITE, workload: "snapshot", unit: "ms" }, timed, (ms) => ms),
    ...Object.entries(sizes).map(([name, file]) =>
      result(bytes, name, [statSync(path(file)).size / 1e6]),
    ),
  ];
}

/**
 * Writes a layout with installed files in layers, as version 1, and version 2 with another layer. Returns the archive of
 * that layer.
 *
 * @param {string} folder
 * @param {Plan} plan
 */
function makeLayout(folder, { dataBytes, layers, newBytes }) {
  const [layout, tree] = [join(folder, "layout"), join(folder, "tree")];
  mkdirSync(tree);
  gather(tree, { imageBytes: 4 * dataBytes, dataBytes: dataBytes + newBytes });
  runOnce("umoci", "init", "--layout", layout);
  runOnce("umoci", "new", "--image", `${layout}:1`);
  const names = runOnce("find", tree, "-not", "-type", "d", "-printf", "%P\\t%s\\n")
    .trim()
    .split("\n");
  const files = names.sort().map((line) => line.split("\t"));
  let sum = 0;
  const parts = Array.from({ length: layers + 1 }, () => /** @type {string[]} */ ([]));
  for (const [name = "", size] of files) {
    // The last part takes the files beyond the size of the image.
    parts[Math.min(layers, Math.floor((layers * sum) / dataBytes))]?.push(name);
    sum += Number(size);
  }
  const archive = join(folder, "layer.tar");
  for (const [index, part] of parts.entries()) {
    if (index === layers) runOnce("umoci", "tag", "--image", `${layout}:1`, "2");
    writeFileSync(join(folder, "names"), part.join("\n"));
    runOnce("tar", "-cf", archive, "-C", tree, "--no-recursion", "-T", join(folder, "names"));
    const tag = index === layers ? "2" : "1";
    runOnce("umoci", "raw", "add-layer", "--image", `${layout}:${tag}`, archive);
  }
  rmSync(tree, { recursive: true });
  return archive;
}

/** @param {string} folder @param {Plan} plan */
function makeByHand(folder, { dataBytes }) {
  const path = (/** @type {string} */ name) => join(folder, name);
  const [bundle, image] = [path("bundle"), path("by-hand.ext4")];
  try {
    runOnce("umoci", "unpack", "--image", `${path("layout")}:1`, bundle);
    const size = `${Math.ceil((1.2 * dataBytes + FREE_BYTES) / 1024)}`;
    runOnce("mke2fs", "-q", "-t", "ext4", "-d", join(bundle, "rootfs"), image, size);
    runOnce("zstd", "-3", "-T2", "-q", "-f", image, "-o", path("by-hand.zst"));
  } finally {
    for (const each of [bundle, image]) rmSync(each, { recursive: true, force: true });
  }
}
