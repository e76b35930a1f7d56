/** Projects of the suite: each is copied to a folder of its own, and finds the packages as they are packed. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const SUITE = fileURLToPath(new URL("..", import.meta.url));

/** How long a test may take on a machine that does much else. */
export const PATIENCE = 240_000;

/** Below the suite, so that its `node_modules` is found, and not in it: bundlers treat that otherwise. */
const WORK = join(SUITE, ".work");

/** Something that is wrong with a package: what it does to the folder of one. */
export type Fault = (folder: string) => void;

/** Where a package of the suite is. */
export const packageFolder = (name: string) => join(SUITE, "node_modules", name);

/** An empty folder from which the packages are found. It is gone when the test is done. */
export function emptyFolder(): string {
  mkdirSync(WORK, { recursive: true });
  const folder = mkdtempSync(join(WORK, "project-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/**
 * A copy of a project.
 *
 * @param fault what is wrong with the `hedgerow` that it finds
 */
export function project(name: string, fault?: Fault): string {
  const folder = emptyFolder();
  cpSync(join(SUITE, "projects", name), folder, { recursive: true });
  if (fault !== undefined) fault(copyOf("hedgerow", join(folder, "node_modules")));
  return folder;
}

/** Copies a package into a folder. Returns where it is. */
export function copyOf(name: string, into: string): string {
  const copy = join(into, name);
  cpSync(packageFolder(name), copy, { recursive: true });
  return copy;
}
