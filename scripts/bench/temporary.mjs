// Folders for what a benchmark makes.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Does something with a folder that goes when it is done.
 *
 * @template Made
 * @param {(folder: string) => Made} action
 * @returns {Made}
 */
export function inTemporaryFolder(action) {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-bench-"));
  try {
    return action(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
