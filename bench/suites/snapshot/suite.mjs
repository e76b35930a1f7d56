// The codec in WebAssembly compared with its rivals, and whole images compared with `zstd`.
import { join } from "node:path";
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { makeExt4Image } from "../../../scripts/lib/ext4-image.mjs";
import { inRoot, node24 } from "../../../scripts/lib/paths.mjs";
import { step } from "../../../scripts/lib/run.mjs";
import { buildModule, ZSTD_ENV } from "../../../scripts/lib/wasm.mjs";
import { runScript } from "../../harness/programs.mjs";
import { measureParts } from "../../harness/results.mjs";
import { inMemory } from "../../harness/temporary.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../harness/results.mjs").Measured} Measured */

export function prepare() {
  installPrograms("demo");
  buildModule("bench/wasm", inRoot("target", "bench-wasm"), "rivals", [], {
    CARGO_ENCODED_RUSTFLAGS: "-Ctarget-feature=+simd128",
    ...ZSTD_ENV,
  });
}

/** @param {boolean} isQuick @returns {Promise<Measured[]>} */
export function measure(isQuick) {
  const plan = isQuick ? QUICK : PLAN;
  return inMemory(async (folder) => {
    step("snapshot: an ext4 image of installed files");
    const image = join(folder, "image.ext4");
    makeExt4Image(image, plan);
    const onNode24 = (/** @type {string} */ description, /** @type {string} */ script) =>
      runScript("snapshot", `${description}, Node 24`, node24, script, [
        image,
        JSON.stringify(plan),
      ]);
    return measureParts("snapshot", {
      codec: () => onNode24("the codec", "codec"),
      images: () => onNode24("whole images", "images"),
    });
  });
}
