// The snapshot suite: the codec in WebAssembly beside its rivals, and whole images beside `zstd`.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { installPrograms } from "../lib/debian.mjs";
import { makeExt4Image } from "../lib/ext4-image.mjs";
import { inRoot, node24 } from "../lib/paths.mjs";
import { run, step } from "../lib/run.mjs";
import { javascript } from "./harness.mjs";

/** @typedef {import("../bench.mjs").Result} Result */

/** Where images lie: in memory, so that no disk is measured. */
const FOLDER = "/dev/shm/hedgerow-bench-";

/** @returns {Promise<Result[]>} */
export async function benchSnapshot() {
  installPrograms("demo");
  buildRivals();
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

/** `bench/wasm` → `target/bench-wasm`. */
function buildRivals() {
  step("WebAssembly: bench/wasm");
  run(
    "wasm-pack",
    [
      ...["--log-level", "warn", "build", "bench/wasm", "--mode", "no-install"],
      ...["--target", "web", "--no-pack", "--out-dir", inRoot("target", "bench-wasm")],
      ...["--out-name", "rivals"],
    ],
    {
      env: {
        CARGO_ENCODED_RUSTFLAGS: "-Ctarget-feature=+simd128",
        CC_wasm32_unknown_unknown: "clang",
        CFLAGS_wasm32_unknown_unknown: "-msimd128 -mbulk-memory",
      },
    },
  );
}
