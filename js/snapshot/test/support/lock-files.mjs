// The lock files that a process has open, one for each image that it restores or waits for.
import { readdirSync, readlinkSync } from "node:fs";

/** The open files of this process. */
const OPEN = "/proc/self/fd";

/**
 * Returns the paths of the lock files that this process has open, whether it holds the lock or tries to get it. A file
 * that is open twice is listed twice.
 *
 * @returns {string[]}
 */
export function openLockFiles() {
  return readdirSync(OPEN)
    .map((fd) => {
      try {
        return readlinkSync(`${OPEN}/${fd}`);
      } catch {
        // The file was closed meanwhile.
        return "";
      }
    })
    .filter((path) => path.endsWith(".claim"));
}
