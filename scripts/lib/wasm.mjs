// Builds the WebAssembly modules of crates.
import { rmSync } from "node:fs";

import { run, step } from "./run.mjs";

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
