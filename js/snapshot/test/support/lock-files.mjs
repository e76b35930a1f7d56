// The claims of a cache by which one at a time restores an image, as a process has them open.
import { readdirSync, readlinkSync } from "node:fs";

/** Where the system tells what a process has open. */
const OPEN = "/proc/self/fd";

/**
 * The paths of the claims that this process has open right now: those that it has, and those that it tries to get,
 * again and again, as another has them. One that is open twice is there twice.
 *
 * @returns {string[]}
 */
export function openClaims() {
  return readdirSync(OPEN)
    .map((fd) => {
      try {
        return readlinkSync(`${OPEN}/${fd}`);
      } catch {
        // It was closed meanwhile.
        return "";
      }
    })
    .filter((path) => path.endsWith(".claim"));
}
