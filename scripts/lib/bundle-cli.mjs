// Writes the man pages of the command line, and then bundles its modules: one file for what every command needs, and one
// for each group of commands. Importing a file takes longer than running it. Runs once after `tsc`, whose output it
// replaces.
import { readdirSync, rmSync } from "node:fs";

import { build } from "esbuild";

import { builtins } from "./builtins.mjs";
import "./man-pages.mjs";
import { inRoot } from "./paths.mjs";

const DIST = inRoot("js", "cli", "dist");

/** The entries of the folder that are published. */
const PUBLISHED = ["main.js", "chunks", "man"];

await build({
  entryPoints: [`${DIST}/main.js`],
  outdir: DIST,
  chunkNames: "chunks/[name]-[hash]",
  allowOverwrite: true,
  bundle: true,
  // Groups of commands are imported on demand.
  splitting: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  plugins: [builtins],
  logLevel: "warning",
});
for (const name of readdirSync(DIST))
  if (!PUBLISHED.includes(name)) rmSync(`${DIST}/${name}`, { recursive: true });
