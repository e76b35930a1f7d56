/** Reads the configuration files of hosts, for the paths that hosts answer besides files. */
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";

import { CliError, messageOf, systemCode } from "../../error.js";
import type { RouteOptions } from "../routes/config-routes.js";
import {
  readFirebase,
  readNetlify,
  readRedirects,
  readStaticWebApps,
  readVercel,
} from "./readers.js";
import type { HostFile, HostPaths, HostReader } from "./rules.js";

/** Nothing. */
export const NO_HOSTS: HostPaths = { keys: [], rewrites: [], cleanUrls: false };

/** Size of a file of a host, in bytes. */
export const MAX_HOST_FILE = 4 << 20;

/** Files in the directory that is deployed. */
const IN_DIRECTORY: Readonly<Record<string, HostReader>> = { _redirects: readRedirects };

/** Files in that directory or in one above it, up to the working directory. */
const IN_PROJECT: Readonly<Record<string, HostReader>> = {
  "netlify.toml": readNetlify,
  "vercel.json": readVercel,
  "firebase.json": readFirebase,
  "staticwebapp.config.json": readStaticWebApps,
};

/** Files and directories that may answer further paths but are not read. */
const UNREAD = [
  "_routes.json",
  "_worker.js",
  ".htaccess",
  "web.config",
  "serve.json",
  "now.json",
  "vercel.ts",
  "render.yaml",
  // Functions state their paths in their source.
  "netlify/functions",
  "netlify/edge-functions",
];

/** Reads the files of hosts for a directory. If one is not understood, warns and leaves it out. */
export async function readHosts(directory: string, options: RouteOptions): Promise<HostPaths> {
  let all = NO_HOSTS;
  for (const [index, folder] of foldersOf(directory).entries()) {
    const readers = index === 0 ? { ...IN_DIRECTORY, ...IN_PROJECT } : IN_PROJECT;
    for (const [name, read] of Object.entries(readers)) {
      const found = await readFound(read, { file: join(folder, name), directory, options });
      if (found === undefined) continue;
      all = {
        keys: [...all.keys, ...found.keys],
        rewrites: [...all.rewrites, ...found.rewrites],
        cleanUrls: all.cleanUrls || found.cleanUrls,
      };
    }
    for (const file of UNREAD.map((name) => join(folder, name)).filter(existsSync)) {
      options.warn(`${file} may answer further paths, and is not read: add them as a list`);
    }
  }
  return all;
}

/** Returns a directory and its parents, up to the working directory if it is below that. */
function foldersOf(directory: string): string[] {
  const folders = [directory];
  let way = relative(process.cwd(), directory);
  if (way === "" || way.startsWith("..") || isAbsolute(way)) return folders;
  while (way !== ".") {
    way = dirname(way);
    folders.push(way);
  }
  return folders;
}

/** Reads a file, if it exists. */
async function readFound(read: HostReader, at: Omit<HostFile, "text">) {
  try {
    const text = await textOf(at.file);
    return text === undefined ? undefined : read({ ...at, text });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    at.options.warn(`${error.message}; the filter lacks the paths that the file adds`);
    return undefined;
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    if (!found.isFile()) throw new CliError("ERR_SOURCE", `${file}: expected a file`);
    if (found.size > MAX_HOST_FILE) {
      const limit = `at most ${MAX_HOST_FILE} bytes`;
      throw new CliError("ERR_SOURCE", `${file}: expected ${limit}, found ${found.size}`);
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(systemCode(error) ?? "")) return undefined;
    if (!(error instanceof TypeError)) throw error;
    throw new CliError("ERR_SOURCE", `${file}: expected UTF-8: ${messageOf(error)}`);
  }
}
