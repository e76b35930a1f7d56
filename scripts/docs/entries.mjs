// Lists the modules that a package exports.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { StepError } from "../lib/run.mjs";

/** Exports without an API. */
const NO_API = /\.(json|wasm)$/;

/** @typedef {{ specifier: string, module: string, source: string }} Entry */

/**
 * Returns the entries of a package. Fails if an export does not come from `src`, so that none is left out.
 *
 * @param {string} folder the folder of the package
 * @returns {Entry[]} import specifier, module path without folder and extension, and source of each
 */
export function entriesOf(folder) {
  const { name, exports = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const paths = Object.keys(exports).filter((path) => !NO_API.test(path));
  return paths.map((path) => {
    const specifier = `${name}${path.slice(1)}`;
    const module = /^\.\/dist\/(.+)\.d\.ts$/.exec(exports[path].types)?.[1];
    if (module === undefined) {
      throw new StepError(`${specifier}: expected types in dist, found ${exports[path].types}`);
    }
    const source = join("src", `${module}.ts`);
    if (!existsSync(join(folder, source))) {
      throw new StepError(`${specifier}: expected its source, ${join(folder, source)}`);
    }
    return { specifier, module, source };
  });
}
