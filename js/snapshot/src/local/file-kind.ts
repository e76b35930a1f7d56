import type { BigIntStats, Stats } from "node:fs";

/** Names the kind of something that is not a regular file, for messages. */
export function kindOf(found: Stats | BigIntStats): string {
  if (found.isDirectory()) return "a directory";
  if (found.isFIFO()) return "a pipe";
  return found.isSocket() ? "a socket" : "a device";
}
