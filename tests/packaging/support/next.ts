/** Next.js apps, built and started. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { KEEP_ALIVE } from "../../support/http/listen.js";
import { keptBuild } from "./kept-build.js";
import { copyProject, type Fault, projectFolder, WORK } from "./project.js";
import { run, serve, tool } from "./tool.js";

interface AppOptions {
  /** Arguments of `next build`. */
  readonly args?: readonly string[];
  /** JSON files that the build reads, by name. */
  readonly files?: Readonly<Record<string, unknown>>;
  /** Environment variables of the running app. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Builds an app, or takes the build of a previous run, and runs it until the test is done. Returns its URL. */
export async function startApp(
  name: string,
  { args = [], files = {}, env = {} }: AppOptions = {},
): Promise<URL> {
  const source = projectFolder(name);
  const folder = await keptBuild([name, ...args].join(""), source, files, (folder) => {
    for (const [file, content] of Object.entries(files)) {
      writeFileSync(join(folder, file), JSON.stringify(content));
    }
    return build(folder, args);
  });
  return start(folder, env);
}

/** Builds and starts an app with a fault in the package that it uses. Returns its URL. */
export async function startFaultyApp(name: string, fault: Fault): Promise<URL> {
  const folder = rebuiltFolder(name, "with a fault");
  copyProject(name, folder, fault);
  await build(folder);
  return start(folder);
}

/** Builds an app with options of `next.config`, and a filter of its paths. Returns its folder and its URL. */
export async function startFilteredApp(
  name: string,
  options: Readonly<Record<string, unknown>>,
): Promise<{ folder: string; url: URL }> {
  const folder = rebuiltFolder(name, "with options");
  copyProject(name, folder);
  writeFileSync(join(folder, "options.json"), JSON.stringify(options));
  await build(folder);
  const args = ["paths", "build", ".next", "-o", "paths.filter", "--ignore-middleware"];
  await run(folder, tool("hedgerow"), ...args);
  return { folder, url: await start(folder) };
}

/** Returns a folder that stays, with the cache of Turbopack: the next build compiles only what differs. */
function rebuiltFolder(name: string, what: string): string {
  const folder = join(WORK, `${name} ${what}`);
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder).filter((file) => file !== ".next")) {
    rmSync(join(folder, file), { recursive: true, force: true, maxRetries: 5 });
  }
  return folder;
}

const build = (folder: string, args: readonly string[] = []) =>
  run(folder, tool("next"), "build", ...args);

function start(folder: string, env: Readonly<Record<string, string>> = {}): Promise<URL> {
  const place = ["--hostname", "127.0.0.1", "--port", "0", "--keepAliveTimeout", `${KEEP_ALIVE}`];
  return serve(folder, tool("next"), ["start", ...place], env);
}
