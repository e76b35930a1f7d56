/** The kinds of sources that paths are read from. */
import { readFileSync, type Stats, statSync } from "node:fs";
import { join, resolve, sep } from "node:path";

import { CliError, messageOf } from "../../error.js";
import { inputOf, linesOf, STDIN } from "../../files/input.js";
import { pathOf } from "../keys.js";
import type { RouteOptions } from "../routes/config-routes.js";
import { buildOutput } from "./build-output.js";
import { type DirectoryOptions, directory } from "./directory.js";
import { next } from "./next.js";
import { sitemap } from "./sitemap.js";

export type SourceOptions = DirectoryOptions & RouteOptions;

/** Kinds of sources. Each yields keys that are not normalised yet. */
const SOURCES = { directory, "build-output": buildOutput, next, sitemap, list };

export type SourceKind = keyof typeof SOURCES;

export const SOURCE_KINDS = Object.keys(SOURCES) as SourceKind[];

/** Yields the keys of a source. A wildcard key ends in `/*`. */
export function keysOf(
  kind: SourceKind,
  path: string,
  options: SourceOptions,
): AsyncIterable<string> {
  if (path !== STDIN) statOf(path);
  return SOURCES[kind](path, options);
}

/** Detects the kind of the source at a path. */
export function detectKind(path: string): SourceKind {
  if (path === STDIN) return "list";
  if (statOf(path).isDirectory()) return kindOfDirectory(path);
  if (/\.xml(?:\.gz)?$/i.test(path)) return "sitemap";
  if (/\.txt$/i.test(path)) return "list";
  throw new CliError(
    "ERR_USAGE",
    `${path}: expected a directory, .xml, .xml.gz or .txt; give --source-kind for other names`,
  );
}

/** A source, as messages name it. */
const SOURCE = "a directory, a sitemap or a list of paths";

/** @throws {CliError} `ERR_SOURCE` */
function statOf(path: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    throw new CliError("ERR_SOURCE", `${path}: expected ${SOURCE}: ${messageOf(error)}`);
  }
}

function kindOfDirectory(path: string): SourceKind {
  const has = (name: string) => statSync(join(path, name), { throwIfNoEntry: false }) !== undefined;
  if (resolve(path).endsWith(`${sep}.vercel${sep}output`)) return "build-output";
  if ((has("static") || has("functions")) && has("config.json") && isVersion3(path)) {
    return "build-output";
  }
  return has("BUILD_ID") && has("routes-manifest.json") ? "next" : "directory";
}

/** Whether a `config.json` is one of the Build Output API, version 3. */
function isVersion3(path: string): boolean {
  try {
    return JSON.parse(readFileSync(join(path, "config.json"), "utf8"))?.version === 3;
  } catch {
    return false;
  }
}

/** Yields one path or absolute URL per line; a line that ends in `/*` is a wildcard. */
export async function* list(file: string): AsyncGenerator<string> {
  const { name, chunks } = inputOf(file);
  for await (const line of linesOf(chunks, name)) yield pathOf(line);
}
