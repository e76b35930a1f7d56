// Builds the WebAssembly modules of crates.
import { rmSync } from "node:fs";

import { run, step } from "./run.mjs";

/**
 * Compiles zstd's C code to WebAssembly. Small functions matter: engines optimise each as a whole while they decode the
 * first frames, and one of 38 KB takes them 120 ms. So only functions that zstd marks as inline are inlined, and the
 * variant for windows of more than 16 MiB is left out: frames hold at most 16 MiB.
 */
export const ZSTD_ENV = {
  CC_wasm32_unknown_unknown: "clang",
  CFLAGS_wasm32_unknown_unknown:
    "-msimd128 -mbulk-memory -DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT -finline-hint-functions",
};

/**
 * Builds a module of a crate and its glue.
 *
 * @param {string} crate
 * @param {string} output the folder to write them to
 * @param {string} name
 * @param {string[]} args of cargo
 * @param {Record<string, string>} env
 */
export function buildModule(crate, output, name, args, env) {
  step(`WebAssembly: ${crate}, ${name}.wasm`);
  run(
    "wasm-pack",
    [
      ...["--log-level", "warn", "build", crate, "--mode", "no-install", "--target", "web"],
      ...["--no-pack", "--out-dir", output, "--out-name", name, "--", ...args],
    ],
    { env },
  );
  // wasm-pack creates it, and it would exclude the folder from the npm package.
  rmSync(`${output}/.gitignore`);
}
