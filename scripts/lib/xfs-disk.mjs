// Makes XFS disks, on which files can share blocks.
import { truncateSync, writeFileSync } from "node:fs";

import { attempt, run } from "./run.mjs";

/**
 * Creates an XFS disk in a sparse file and mounts it. Returns the reason if it cannot be mounted. XFS needs
 * at least 300 MiB.
 *
 * @param {string} image
 * @param {string} folder
 * @param {number} size in bytes
 */
export function mountXfs(image, folder, size) {
  if (process.platform !== "linux") return "not on Linux";
  if (process.getuid?.() !== 0) return "not root";
  writeFileSync(image, "");
  truncateSync(image, size);
  run("mkfs.xfs", ["-q", "-m", "reflink=1", image]);
  const mounted = attempt("mount", ["-o", "loop", image, folder]);
  return mounted.status === 0 ? undefined : mounted.errors.trim();
}
