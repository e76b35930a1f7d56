import { existsSync } from "node:fs";
import { join } from "node:path";

import { normalizePath } from "hedgerow";

import { Json } from "../../files/json.js";
import { EVERYTHING, escapeName, keysOfDirectory, keysOfPage } from "../keys.js";
import { type RouteOptions, readConfigRoutes } from "../routes/config-routes.js";
import { withRewrites } from "../routes/rewrites.js";
import { walk } from "./directory.js";

const FUNCTION = ".func";
const PRERENDER = ".prerender-config.json";

/**
 * Yields the paths that a deployment in `.vercel/output` answers, by version 3 of the Build Output API:
 * static files, functions, and the paths that its routes map to these.
 */
export async function* buildOutput(
  directory: string,
  options: RouteOptions,
): AsyncGenerator<string> {
  const config = await Json.read(join(directory, "config.json"));
  if (!config.get("version").is(3)) throw config.get("version").error("3");
  const { keys, rewrites } = readConfigRoutes(config, options);
  for await (const key of outputKeys(directory, config, options)) {
    yield* withRewrites(normalizePath(key), rewrites, options.warn);
  }
  for (const key of keys) yield* withRewrites(normalizePath(key), rewrites, options.warn);
}

async function* outputKeys(
  directory: string,
  config: Json,
  { warn }: RouteOptions,
): AsyncGenerator<string> {
  // Answered by the platform itself.
  yield "/_vercel/*";
  if (config.get("images").isThere) yield "/_next/image";
  for await (const path of staticPaths(join(directory, "static"), config)) yield* withIndex(path);
  for await (const path of functionPaths(join(directory, "functions"))) {
    for (const key of keysOfPage(path)) {
      if (key === EVERYTHING) warn(`the function ${path} may answer any path`);
      yield* withIndex(key);
    }
  }
}

/** Yields a path and, if it is an index, that of its directory. */
function* withIndex(path: string): Generator<string> {
  yield path;
  if (/\/index(?:\.html)?$/.test(path)) yield path.slice(0, path.lastIndexOf("/") + 1);
}

/** Yields the paths of static files, with the overrides of the configuration. */
async function* staticPaths(directory: string, config: Json): AsyncGenerator<string> {
  const moved = new Map<string, string>();
  for (const [file, override] of config.get("overrides").entries()) {
    const path = override.get("path").stringIfThere();
    if (path !== undefined) moved.set(`/${escapeName(file)}`, `/${escapeName(path)}`);
  }
  if (!existsSync(directory)) return;
  for await (const { path, kind } of walk(directory, () => true)) {
    yield* kind === "endless" ? keysOfDirectory(path) : [moved.get(path) ?? path];
  }
}

/** Yields the paths of functions. A function is a directory, or a link to one, that is not entered. */
async function* functionPaths(directory: string): AsyncGenerator<string> {
  if (!existsSync(directory)) return;
  for await (const { path, kind } of walk(directory, (name) => !name.endsWith(FUNCTION))) {
    if (kind === "endless") yield* keysOfDirectory(path);
    else if (kind === "directory") yield path.slice(0, -FUNCTION.length);
    else if (path.endsWith(PRERENDER)) yield path.slice(0, -PRERENDER.length);
  }
}
