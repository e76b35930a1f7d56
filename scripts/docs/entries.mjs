// The modules of a JavaScript package that others import, as its `exports` name them.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { StepError } from "../lib/run.mjs";

/** What a package exports besides modules with an API. */
const NO_API = /\.(json|wasm)$/;

/** @typedef {{ specifier: string, module: string, source: string }} Entry */

/**
 * The entries of a package. Whatever is exported must come from `src`, so that no entry is left out.
 *
 * @param {string} folder the package's
 * @returns {Entry[]} how each is imported, its module without folder and ending, and its source
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
