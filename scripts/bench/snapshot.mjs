// The snapshot suite: the codec in WebAssembly beside its rivals, and whole images beside `zstd`.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { installPrograms } from "../lib/debian.mjs";
import { makeExt4Image } from "../lib/ext4-image.mjs";
import { inRoot, node24 } from "../lib/paths.mjs";
import { step } from "../lib/run.mjs";
import { buildModule, ZSTD_ENV } from "../lib/wasm.mjs";
import { javascript } from "./harness.mjs";

/** @typedef {import("../bench.mjs").Result} Result */

/** Where images lie: in memory, so that no disk is measured. */
const FOLDER = "/dev/shm/hedgerow-bench-";

/** @returns {Promise<Result[]>} */
export async function benchSnapshot() {
  installPrograms("demo");
  buildModule("bench/wasm", inRoot("target", "bench-wasm"), "rivals", [], {
    CARGO_ENCODED_RUSTFLAGS: "-Ctarget-feature=+simd128",
    ...ZSTD_ENV,
  });
  const folder = mkdtempSync(FOLDER);
  try {
    step("an ext4 image of installed files, 4 GiB with more than 1 GB of data (20 s)");
    const image = join(folder, "image.ext4");
    makeExt4Image(image, { imageBytes: 2 ** 32, dataBytes: 1.1e9 });
    return ["codec", "images"].flatMap((script) =>
      javascript("snapshot", "Node 24", node24, script, [image]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
