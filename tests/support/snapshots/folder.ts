/** Temporary folders of tests. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Creates a folder that is removed after the tests of the file. Returns a function that joins paths in it. */
export function temporaryFolder(parent = tmpdir()): (...parts: string[]) => string {
  const folder = mkdtempSync(join(parent, "hedgerow-snapshot-"));
  // Removing the packages of several projects takes more than the default of one minute on a busy machine.
  afterAll(() => rmSync(folder, { recursive: true, force: true }), 300_000);
  return (...parts) => join(folder, ...parts);
}

/** Returns the temporary files that unfinished work left in a folder. */
export function leftovers(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith(".hedgerow-"));
}
