// Command-line tools built from crates.io, with their pinned versions.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { inRoot, toolCache } from "./paths.mjs";

/** @typedef {{ crate: string, binary: string, version: string }} Tool */

/** The version of a crate in `Cargo.lock`. @param {string} crate */
function lockedVersion(crate) {
  const lock = readFileSync(inRoot("Cargo.lock"), "utf8");
  const version = new RegExp(`name = "${crate}"\\nversion = "([^"]+)"`).exec(lock)?.[1];
  if (version === undefined) throw new Error(`Cargo.lock: expected the crate ${crate}`);
  return version;
}

/** Tools of the build. The wasm-bindgen CLI must have the same version as the crate. */
export const buildTools = () => [
  { crate: "wasm-bindgen-cli", binary: "wasm-bindgen", version: lockedVersion("wasm-bindgen") },
  { crate: "wasm-pack", binary: "wasm-pack", version: "0.15.1" },
];

/** @type {Tool} */
export const fuzzTool = { crate: "cargo-fuzz", binary: "cargo-fuzz", version: "0.13.1" };

/** @type {Tool} */
export const auditTool = { crate: "cargo-deny", binary: "cargo-deny", version: "0.20.2" };

/** Returns the folder that a tool is installed into. @param {Tool} tool */
export const toolRoot = (tool) => join(toolCache, `${tool.crate}-${tool.version}`);

/** Whether a tool is installed. @param {Tool} tool */
export const isInstalled = (tool) => existsSync(join(toolRoot(tool), "bin", tool.binary));

/** Returns the folders with the tools' binaries. */
export const toolFolders = () =>
  [...buildTools(), fuzzTool, auditTool].map((tool) => join(toolRoot(tool), "bin"));
