// Temporary folders of benchmarks, and mounts that disappear with the last process.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { attempt } from "../../scripts/lib/run.mjs";

const NAME = "hedgerow-bench-";

/** @template Made @typedef {(folder: string) => Made | Promise<Made>} Action */

/**
 * Runs an action with a temporary folder, and removes it afterwards.
 *
 * @template Made
 * @param {Action<Made>} action
 */
export const inTemporaryFolder = (action) => withFolderIn(tmpdir(), action);

/** The same in tmpfs, so that no disk is measured. @template Made @param {Action<Made>} action */
export const inMemory = (action) => withFolderIn("/dev/shm", action);

/**
 * The same on the disk of the repository; the system’s temporary folder may be elsewhere.
 *
 * @template Made
 * @param {Action<Made>} action
 */
export function onDisk(action) {
  const target = inRoot("target");
  mkdirSync(target, { recursive: true });
  return withFolderIn(target, action);
}

/** @template Made @param {string} parent @param {Action<Made>} action */
async function withFolderIn(parent, action) {
  const folder = mkdtempSync(join(parent, NAME));
  try {
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a command in a mount namespace of its own. */
const OWN_MOUNTS = ["unshare", "--mount"];

/** Returns the command to put before another one; nothing without mount namespaces, where mounting fails as well. */
export function ownMounts() {
  const [command = "", ...args] = OWN_MOUNTS;
  return attempt(command, [...args, "true"]).status === 0 ? OWN_MOUNTS : [];
}
