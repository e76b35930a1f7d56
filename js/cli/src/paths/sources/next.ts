import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";

import { Json } from "../../files/json.js";
import { walk } from "../../files/walk.js";
import type { RouteOptions } from "../routes/config-routes.js";
import { keysOfDirectory } from "../routes/keys.js";
import { Locales } from "../routes/locales.js";
import { pageKeys } from "../routes/next-pages.js";
import { customKeys, middlewareKeys } from "../routes/next-routes.js";

/** Yields the paths that `next start` answers for `.next`, and `public` and `static` of the project. */
export async function* next(
  directory: string,
  { ignoreMiddleware, warn }: RouteOptions,
): AsyncGenerator<string> {
  const manifests = await readManifests(directory);
  const locales = new Locales(manifests.routes.get("i18n"));
  const base = manifests.routes.get("basePath").stringIfThere() ?? "";
  for (const key of pageKeys(manifests, locales, warn)) {
    for (const prefix of locales.defaultPrefixes) yield base + prefix + key;
  }
  const root = rootOf(directory, manifests.server.get("config").get("distDir").stringIfThere());
  for await (const key of fileKeys(directory, root)) {
    for (const prefix of locales.defaultPrefixes) yield base + prefix + key;
  }
  const build = (await readFile(join(directory, "BUILD_ID"), "utf8")).trim();
  for (const prefix of locales.prefixes) yield `${base}${prefix}/_next/data/${build}/*`;
  yield `${base}/_next/image`;
  yield* customKeys(manifests, locales, warn);
  if (!ignoreMiddleware) yield* middlewareKeys(manifests, warn);
}

async function readManifests(directory: string) {
  const read = (name: string) => Json.readIfThere(join(directory, name));
  return {
    routes: await Json.read(join(directory, "routes-manifest.json")),
    prerender: await read("prerender-manifest.json"),
    app: await read("app-path-routes-manifest.json"),
    pages: await read("server/pages-manifest.json"),
    middleware: await read("server/middleware-manifest.json"),
    functions: await read("server/functions-config-manifest.json"),
    server: await read("required-server-files.json"),
  };
}

/** Returns the directory of the project: the one above, unless the build is in a deeper `distDir` of it. */
function rootOf(directory: string, distDir = ".next"): string {
  const at = resolve(directory);
  const end = join(sep, distDir).replace(/[/\\]$/, "");
  return at.endsWith(end) ? at.slice(0, at.length - end.length) || sep : dirname(at);
}

/** Yields the keys of files, without the base path. */
async function* fileKeys(directory: string, root: string): AsyncGenerator<string> {
  const mounted = [
    { at: join(directory, "static"), prefix: "/_next/static" },
    { at: join(root, "public"), prefix: "" },
    // Next.js has replaced it by `public`, but still serves it.
    { at: join(root, "static"), prefix: "/static" },
  ];
  for (const { at, prefix } of mounted) {
    if (!existsSync(at)) continue;
    for await (const { path, kind } of walk(at, () => true)) {
      yield* kind === "endless" ? keysOfDirectory(prefix + path) : [prefix + path];
    }
  }
}
