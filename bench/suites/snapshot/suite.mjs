// The snapshot suite: the codec in WebAssembly beside its rivals, and whole images beside `zstd`.
import { join } from "node:path";
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { makeExt4Image } from "../../../scripts/lib/ext4-image.mjs";
import { inRoot, node24 } from "../../../scripts/lib/paths.mjs";
import { step } from "../../../scripts/lib/run.mjs";
import { buildModule, ZSTD_ENV } from "../../../scripts/lib/wasm.mjs";
import { allParts } from "../../harness/missing.mjs";
import { javascript } from "../../harness/run.mjs";
import { inMemory } from "../../harness/temporary.mjs";
import { PLAN, QUICK } from "./plan.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Measured} Measured */

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
    const js = (/** @type {string} */ what, /** @type {string} */ script) =>
      javascript("snapshot", `${what}, Node 24`, node24, script, [image, JSON.stringify(plan)]);
    return allParts("snapshot", {
      codec: () => js("the codec", "codec"),
      images: () => js("whole images", "images"),
    });
  });
}
