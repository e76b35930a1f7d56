/** The projects of the suite, each copied to a separate folder that resolves the packed packages. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

import { PACKAGE_FOLDERS, tarballOf } from "../../../scripts/lib/suites.mjs";

export const SUITE = fileURLToPath(new URL("..", import.meta.url));

/** Timeout of a test, in milliseconds, which also suffices on a busy machine. */
export const TEST_TIMEOUT = 240_000;

/** The tarballs of all packages. */
export const TARBALLS = Object.keys(PACKAGE_FOLDERS).map(tarballOf);

/** Below the suite, to resolve its `node_modules`, but outside that folder, which bundlers treat differently. */
export const WORK = join(SUITE, ".work");

/** Injects a fault into the folder of a package. */
export type Fault = (folder: string) => void;

/** Returns the folder of a project, whose tests copy it. */
export const projectFolder = (name: string) => join(SUITE, "projects", name);

/** Returns the folder of an installed package. */
export const packageFolder = (name: string) => join(SUITE, "node_modules", name);

/** Creates an empty folder that resolves the packages. It is removed after the test. */
export function emptyFolder(): string {
  mkdirSync(WORK, { recursive: true });
  const folder = mkdtempSync(join(WORK, "project-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/**
 * Copies a project. Returns the folder.
 *
 * @param fault injected into the `hedgerow` that the project uses
 */
export function project(name: string, fault?: Fault): string {
  const folder = emptyFolder();
  copyProject(name, folder, fault);
  return folder;
}

/** Copies a project into a folder, with a copy of `hedgerow` if a fault is to be injected into it. */
export function copyProject(name: string, folder: string, fault?: Fault): void {
  cpSync(projectFolder(name), folder, { recursive: true });
  if (fault !== undefined) fault(copyOf("hedgerow", join(folder, "node_modules")));
}

/** Copies a package into a folder. Returns the folder of the copy. */
export function copyOf(name: string, into: string): string {
  const copy = join(into, name);
  cpSync(packageFolder(name), copy, { recursive: true });
  return copy;
}
