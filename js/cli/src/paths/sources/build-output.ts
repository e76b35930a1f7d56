import { existsSync } from "node:fs";
import { join } from "node:path";

import { normalizePath } from "hedgerow";

import { Json } from "../../files/json.js";
import { walk } from "../../files/walk.js";
import { escapeName } from "../path-text.js";
import { type RouteOptions, readConfigRoutes } from "../routes/config-routes.js";
import { EVERYTHING, keysOfFolder, keysOfPage } from "../routes/keys.js";
import { withRewrites } from "../routes/rewrite-chains.js";

const FUNCTION = ".func";
const PRERENDER = ".prerender-config.json";

/**
 * What a deployment answers that a framework has put into `.vercel/output`, by version 3 of the Build
 * Output API: its static files, its functions, and what its routes make of these.
 */
export async function* buildOutput(folder: string, options: RouteOptions): AsyncGenerator<string> {
  const config = await Json.read(join(folder, "config.json"));
  if (!config.get("version").is(3)) throw config.get("version").error("3");
  const { keys, rewrites } = readConfigRoutes(config, options);
  for await (const key of outputKeys(folder, config, options)) {
    yield* withRewrites(normalizePath(key), rewrites, options.warn);
  }
  for (const key of keys) yield* withRewrites(normalizePath(key), rewrites, options.warn);
}

async function* outputKeys(
  folder: string,
  config: Json,
  { warn }: RouteOptions,
): AsyncGenerator<string> {
  // What the platform itself answers.
  yield "/_vercel/*";
  if (config.get("images").isThere) yield "/_next/image";
  for await (const path of staticPaths(join(folder, "static"), config)) yield* withIndex(path);
  for await (const path of functionPaths(join(folder, "functions"))) {
    for (const key of keysOfPage(path)) {
      if (key === EVERYTHING) warn(`the function ${path} may answer any path`);
      yield* withIndex(key);
    }
  }
}

/** A path, and that of the directory whose index it is. */
function* withIndex(path: string): Generator<string> {
  yield path;
  if (/\/index(?:\.html)?$/.test(path)) yield path.slice(0, path.lastIndexOf("/") + 1);
}

/** The paths of static files: as they lie, or where the configuration puts them. */
async function* staticPaths(folder: string, config: Json): AsyncGenerator<string> {
  const moved = new Map<string, string>();
  for (const [file, override] of config.get("overrides").entries()) {
    const path = override.get("path").stringIfThere();
    if (path !== undefined) moved.set(`/${escapeName(file)}`, `/${escapeName(path)}`);
  }
  if (!existsSync(folder)) return;
  for await (const { path, kind } of walk(folder, () => true)) {
    yield* kind === "endless" ? keysOfFolder(path) : [moved.get(path) ?? path];
  }
}

/** The paths of functions, whose code is in directories, or links to them, that are not entered. */
async function* functionPaths(folder: string): AsyncGenerator<string> {
  if (!existsSync(folder)) return;
  for await (const { path, kind } of walk(folder, (name) => !name.endsWith(FUNCTION))) {
    if (kind === "endless") yield* keysOfFolder(path);
    else if (kind === "folder") yield path.slice(0, -FUNCTION.length);
    else if (path.endsWith(PRERENDER)) yield path.slice(0, -PRERENDER.length);
  }
}
