import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { CreateError } from "./error.js";
import type { Template } from "./templates.js";

/** What npm accepts as the name of a package without a scope. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,213}$/;

/** The scripts of a project. */
export type Scripts = Readonly<Record<string, string>>;

/** @throws {CreateError} unless `directory` does not exist or is empty */
export async function checkDirectory(directory: string): Promise<void> {
  try {
    const [entry] = await readdir(directory);
    if (entry === undefined) return;
    throw new CreateError(`${directory}: expected an empty directory, found ${entry}`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    if (code === "ENOTDIR") throw new CreateError(`${directory}: expected a directory`);
    throw error;
  }
}

/**
 * Writes the project of a template to a directory, and returns its scripts. If that fails, nothing is left.
 *
 * @throws {CreateError} unless `directory` does not exist or is empty
 */
export async function writeProject(template: Template, directory: string): Promise<Scripts> {
  await checkDirectory(directory);
  const source = fileURLToPath(new URL(`templates/${template}`, import.meta.url));
  const created = await mkdir(directory, { recursive: true });
  const written: string[] = [];
  try {
    for (const entry of await readdir(source)) {
      // npm leaves files named .gitignore out of packages.
      const target = join(directory, entry === "gitignore" ? ".gitignore" : entry);
      written.push(target);
      await cp(join(source, entry), target, { recursive: true, errorOnExist: true, force: false });
    }
    return await rename(template, directory);
  } catch (error) {
    const remains = created === undefined ? written : [created];
    await Promise.all(remains.map((path) => rm(path, { recursive: true, force: true })));
    throw error;
  }
}

/** Replaces the name of the example by that of the project. Returns the scripts. */
async function rename(template: Template, directory: string): Promise<Scripts> {
  const name = nameOf(directory);
  for (const file of await readdir(directory)) {
    if (file !== "package.json" && file !== "wrangler.jsonc") continue;
    const path = join(directory, file);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replaceAll(`hedgerow-example-${template}`, name));
  }
  const manifest = await readFile(join(directory, "package.json"), "utf8");
  return (JSON.parse(manifest) as { readonly scripts: Scripts }).scripts;
}

/** Returns the commands that install, build, test and start a project. */
export function commandsOf(scripts: Scripts): string[] {
  const { build, start } = scripts;
  return [
    "npm install",
    ...(build === undefined ? [] : ["npm run build"]),
    "npm test",
    ...(start === undefined ? [] : ["npm start"]),
  ];
}

/** Returns a name for the package in a directory. */
function nameOf(directory: string): string {
  const name = basename(resolve(directory))
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "");
  return NAME.test(name) ? name : "hedgerow-app";
}
