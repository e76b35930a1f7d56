import { constants, readdirSync } from "node:fs";
import {
  copyFile,
  cp,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import type { Template } from "./templates.js";

/** An expected error: users see its message, and no stack trace. */
export class CreateError extends Error {
  override readonly name = "CreateError";
}

/** The longest name that a Worker can have, in characters. */
const MAX_NAME = 63;

/** The scripts of a project. */
export type Scripts = Readonly<Record<string, string>>;

/**
 * Returns whether a directory exists. Its parent must exist.
 *
 * @throws {CreateError} if it is not an empty directory
 */
export function checkDirectory(directory: string): boolean {
  if (directory === "") throw new CreateError("expected a directory, found no name");
  const entry = firstEntryOf(directory);
  if (typeof entry === "string") {
    throw new CreateError(`${directory}: expected an empty directory, found ${entry}`);
  }
  const parent = dirname(resolve(directory));
  if (entry === undefined && firstEntryOf(parent) === undefined) {
    throw new CreateError(`${parent}: expected a directory`);
  }
  return entry === null;
}

/** Returns the name of an entry of a directory, `null` if it is empty, and `undefined` if it does not exist. */
function firstEntryOf(directory: string): string | null | undefined {
  try {
    return readdirSync(directory)[0] ?? null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ENOTDIR") throw new CreateError(`${directory}: expected a directory`);
    throw error;
  }
}

/**
 * Writes the project of a template to a directory that does not exist or is empty, and returns its scripts. If that
 * fails, removes everything that it wrote, and nothing else.
 *
 * @throws {CreateError} if the directory cannot have the project
 */
export async function writeProject(template: Template, directory: string): Promise<Scripts> {
  const exists = checkDirectory(directory);
  const target = resolve(directory);
  const source = fileURLToPath(new URL(`templates/${template}`, import.meta.url));
  const stage = await mkdtemp(join(exists ? target : dirname(target), ".create-hedgerow-"));
  try {
    const project = join(stage, "project");
    await cp(source, project, { recursive: true });
    // npm leaves files named .gitignore out of packages.
    await rename(join(project, "gitignore"), join(project, ".gitignore"));
    const scripts = await setName(template, project, nameOf(target));
    // A directory that exists may be the current one, and stays the same.
    await (exists ? moveEntries(project, target) : rename(project, target));
    return scripts;
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Moves the entries of a directory to another one: all of them or, if one exists there, none. */
async function moveEntries(from: string, to: string): Promise<void> {
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const name of await readdir(from)) {
      const source = join(from, name);
      const target = join(to, name);
      if ((await stat(source)).isDirectory()) {
        await rename(source, target);
        undo.push(() => rename(target, source));
      } else {
        await copyFile(source, target, constants.COPYFILE_EXCL);
        undo.push(() => unlink(target));
      }
    }
  } catch (error) {
    for (const step of undo) await step();
    throw error;
  }
}

/** Replaces the name of the example by that of the project. Returns the scripts. */
async function setName(template: Template, project: string, name: string): Promise<Scripts> {
  for (const file of await readdir(project)) {
    if (file !== "package.json" && file !== "wrangler.jsonc") continue;
    const path = join(project, file);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replaceAll(`hedgerow-example-${template}`, name));
  }
  const manifest = await readFile(join(project, "package.json"), "utf8");
  return (JSON.parse(manifest) as { readonly scripts: Scripts }).scripts;
}

/** Returns a name for the package and the Worker in a directory. */
function nameOf(directory: string): string {
  const words = basename(directory)
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const name = words.filter(Boolean).join("-").slice(0, MAX_NAME).replace(/-$/, "");
  return name || "hedgerow-app";
}
