// The codec in WebAssembly compared with its rivals, and whole images compared with `zstd`.
import { join } from "node:path";
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { makeExt4Image } from "../../../scripts/lib/file-systems.mjs";
import { inRoot, node24 } from "../../../scripts/lib/paths.mjs";
import { step } from "../../../scripts/lib/run.mjs";
import { buildModule } from "../../../scripts/lib/wasm.mjs";
import { zstdEnv } from "../../../scripts/lib/zstd.mjs";
import { runScript } from "../../harness/programs.mjs";
import { measureParts } from "../../harness/results.mjs";
import { inMemory } from "../../harness/temporary.mjs";

/** The image with the minimum of files in it, rounds for whole images, and pieces and rounds for the codec. */
export const PLAN = {
  imageBytes: 2 ** 32,
  dataBytes: 1.1e9,
  rounds: 5,
  pieces: 128,
  codecRounds: 12,
};

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = {
  imageBytes: 2 ** 29,
  dataBytes: 0.14e9,
  rounds: 1,
  pieces: 16,
  codecRounds: 2,
};

export function prepare() {
  installPrograms("demo");
  buildModule("bench/wasm", inRoot("target", "bench-wasm"), "rivals", [], {
    CARGO_ENCODED_RUSTFLAGS: "-Ctarget-feature=+simd128",
    ...zstdEnv(),
  });
}

/** @typedef {{ image: string, plan: Plan }} Parameters */

/** @param {Plan} plan */
export function measure(plan) {
  return inMemory((folder) => {
    step("snapshot: an ext4 image of installed files");
    const image = join(folder, "image.ext4");
    makeExt4Image(image, plan);
    const parameters = { image, plan };
    return measureParts("snapshot", {
      codec: () => runScript("snapshot", "the codec, Node 24", node24, "codec", parameters),
      images: () => runScript("snapshot", "whole images, Node 24", node24, "images", parameters),
    });
  });
}
