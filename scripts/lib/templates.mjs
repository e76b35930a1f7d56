// Copies the examples that are templates to the `dist` of `create-hedgerow`.
import { appendFileSync, cpSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { inRoot } from "./paths.mjs";
import { listFiles } from "./run.mjs";

const DIST = inRoot("js", "create", "dist");

const { TEMPLATES } = await import(pathToFileURL(`${DIST}/templates.js`).href);
for (const name of Object.keys(TEMPLATES)) copy(name);

/** @param {string} name of an example */
function copy(name) {
  const target = `${DIST}/templates/${name}`;
  const source = `examples/${name}`;
  for (const file of listFiles(`${source}/`)) {
    const path = file.slice(source.length + 1);
    // The README is about the example in this repository.
    if (path !== "README.md") cpSync(inRoot(file), join(target, path));
  }
  const manifest = `${target}/package.json`;
  const { license: _, description: __, ...others } = JSON.parse(readFileSync(manifest, "utf8"));
  writeFileSync(manifest, `${JSON.stringify(others, undefined, 2)}\n`);
  // npm leaves .gitignore out of packages.
  renameSync(`${target}/.gitignore`, `${target}/gitignore`);
  appendFileSync(`${target}/gitignore`, "# Packages.\nnode_modules/\n");
}
