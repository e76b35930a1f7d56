// Runs TypeDoc on the modules that a package exports.
import { readFileSync } from "node:fs";

import { inRoot } from "../lib/paths.mjs";
import { run, step } from "../lib/run.mjs";
import { entriesOf } from "./entries.mjs";

const DOCS = inRoot("scripts", "docs");

/**
 * Documents a package, if it has an API. Fails if a public item is undocumented or a link is broken.
 *
 * @param {string} folder in `js`
 * @param {string} out the folder of the pages
 * @param {string[]} args further arguments of TypeDoc
 * @returns {{ name: string, version: string, description: string } | undefined}
 */
export function documentPackage(folder, out, args) {
  const cwd = inRoot("js", folder);
  const entries = entriesOf(cwd);
  if (entries.length === 0) return undefined;
  const { name, version, description } = JSON.parse(readFileSync(`${cwd}/package.json`, "utf8"));
  step(`TypeScript: ${name}`);
  run(
    process.execPath,
    [
      ...[`${DOCS}/node_modules/typedoc/bin/typedoc`, "--options", `${DOCS}/typedoc.jsonc`],
      ...["--logLevel", "Warn", "--name", name, "--tsconfig", "tsconfig.json"],
      ...["--displayBasePath", "src", "--out", out, ...args],
      ...entries.flatMap(({ source }) => ["--entryPoints", source]),
    ],
    { cwd },
  );
  return { name, version, description };
}
