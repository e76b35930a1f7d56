/** Folders for files of tests. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A folder that goes when the tests of the file are done. Returns paths of what is in it. */
export function temporaryFolder(): (...parts: string[]) => string {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-snapshot-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (...parts) => join(folder, ...parts);
}

/** What unfinished work left in a folder. */
export function leftovers(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith(".hedgerow-"));
}
