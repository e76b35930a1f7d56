/** Reads the files in which hosts state the paths that they answer besides files. */
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";

import { CliError, messageOf, systemCode } from "../../error.js";
import { Json } from "../../files/json.js";
import { type ConfigRoutes, type RouteOptions, readConfigRoutes } from "../routes/config-routes.js";
import { FIREBASE_KEYS, rulesOfFirebase, sitesOfFirebase } from "./firebase.js";
import { NETLIFY_KEYS, rulesOfNetlify, rulesOfRedirects } from "./netlify.js";
import { routesOfRules } from "./rules.js";
import { rulesOfStaticWebApps, STATIC_WEB_APPS_KEYS } from "./static-web-apps.js";
import { rulesOfVercel, VERCEL_KEYS } from "./vercel.js";

/** What the files of hosts state about a directory. */
export interface HostPaths extends ConfigRoutes {
  /** Whether a page is answered without `.html`, too: Cloudflare, Netlify and Azure do so by default. */
  readonly cleanUrls: boolean;
}

/** Nothing. */
export const NO_HOSTS: HostPaths = { keys: [], rewrites: [], cleanUrls: false };

/** A file of a host. */
interface HostFile {
  readonly file: string;
  readonly text: string;
  /** The directory that is deployed. */
  readonly directory: string;
  readonly options: RouteOptions;
}

type Reader = (file: HostFile) => ConfigRoutes & { readonly cleanUrls?: boolean };

/** Size of a file of a host, in bytes. */
export const MAX_HOST_FILE = 4 << 20;

/** Files in the directory that is deployed. */
const IN_DIRECTORY: Readonly<Record<string, Reader>> = {
  _redirects: ({ file, text, options: { warn } }) => {
    const rules = rulesOfRedirects(text, (message) => warn(`${file}: ${message}`));
    const { keys, rewrites } = routesOfRules(rules, file, warn);
    const isNetlify = rules.some(({ destination }) => destination?.startsWith("/.netlify/"));
    return { keys: [...keys, ...(isNetlify ? NETLIFY_KEYS : [])], rewrites, cleanUrls: true };
  },
};

/** Files in that directory or in one above it, up to the working directory. */
const IN_PROJECT: Readonly<Record<string, Reader>> = {
  "netlify.toml": ({ file, text, options }) => {
    const rules = rulesOfNetlify(Json.parseToml(text, file), options);
    return { ...withKeys(NETLIFY_KEYS, routesOfRules(rules, file, options.warn)), cleanUrls: true };
  },
  "vercel.json": ({ file, text, options }) => {
    const config = Json.parse(text, file);
    const warn = (message: string) => options.warn(`${file}: ${message}`);
    if (config.get("bulkRedirectsPath").isThere) warn("bulkRedirectsPath is not read");
    const functions = existsSync(join(dirname(file), "api")) ? ["/api/*"] : [];
    const routes = readConfigRoutes(config, { ...options, warn });
    const { keys, rewrites } = routesOfRules(rulesOfVercel(config), file, options.warn);
    const cleanUrls = config.get("cleanUrls").is(true);
    return {
      keys: [...VERCEL_KEYS, ...functions, ...routes.keys, ...keys],
      rewrites: [...routes.rewrites, ...rewrites],
      cleanUrls,
    };
  },
  "firebase.json": ({ file, text, directory, options: { warn } }) => {
    const sites = sitesOfFirebase(Json.parse(text, file), file, directory);
    if (sites.some((site) => site.get("i18n").isThere)) warn(`${file}: i18n is not read`);
    const routes = routesOfRules(sites.flatMap(rulesOfFirebase), file, warn);
    const cleanUrls = sites.some((site) => site.get("cleanUrls").is(true));
    return { ...withKeys(sites.length > 0 ? FIREBASE_KEYS : [], routes), cleanUrls };
  },
  "staticwebapp.config.json": ({ file, text, options: { warn } }) => {
    const rules = rulesOfStaticWebApps(Json.parse(text, file));
    return { ...withKeys(STATIC_WEB_APPS_KEYS, routesOfRules(rules, file, warn)), cleanUrls: true };
  },
};

/** Files and directories that may answer further paths, and are not read. */
const UNREAD = [
  ...["_routes.json", "_worker.js", ".htaccess", "web.config", "serve.json"],
  ...["now.json", "vercel.ts", "render.yaml"],
  // Functions state their paths in their source.
  ...["netlify/functions", "netlify/edge-functions"],
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
        cleanUrls: all.cleanUrls || found.cleanUrls === true,
      };
    }
    for (const file of UNREAD.map((name) => join(folder, name)).filter(existsSync)) {
      options.warn(`${file} may answer further paths, and is not read: add them as a list`);
    }
  }
  return all;
}

/** Returns a directory and those above it, up to the working directory if it is below that. */
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
async function readFound(read: Reader, at: Omit<HostFile, "text">) {
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

const withKeys = (keys: readonly string[], routes: ConfigRoutes): ConfigRoutes => ({
  keys: [...keys, ...routes.keys],
  rewrites: routes.rewrites,
});
