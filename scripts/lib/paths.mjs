// Paths of the repository, starting at its root.
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Returns a path in the repository. @param {string[]} parts */
export const inRoot = (...parts) => join(root, ...parts);

/** Returns a file of the packages that contain engines: see `tests/runtimes`. @param {string[]} parts */
export const inEngines = (...parts) => inRoot("tests", "runtimes", "node_modules", ...parts);

/** The Node that benchmarks run on besides the installed one. */
export const node24 = inEngines("node24", "bin", "node");

/** A folder outside the repository that clones share. */
export const cache =
  process.env.HEDGEROW_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "hedgerow");

/** The part of it with tools; its entries are named by tool and version. */
export const toolCache = join(cache, "tools");
