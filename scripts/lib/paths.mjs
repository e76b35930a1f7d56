// Where things are. Paths in scripts start from the root of the repository.
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A path of the repository. @param {string[]} parts */
export const inRoot = (...parts) => join(root, ...parts);

/** A file of the packages that have engines: see `tests/runtimes`. @param {string[]} parts */
export const inEngines = (...parts) => inRoot("tests", "runtimes", "node_modules", ...parts);

/** The Node that benchmarks run on beside the one at hand. */
export const node24 = inEngines("node24", "bin", "node");

/** A folder outside the repository that clones share; each tool in it has its version in its name. */
export const toolCache = join(
  process.env.HEDGEROW_CACHE ??
    join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "hedgerow"),
  "tools",
);
