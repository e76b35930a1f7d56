import { type BigIntStats, lstatSync } from "node:fs";

import { wrapSystemErrorsSync } from "../../local/system-errors.js";

/** The unit of `blocks` in the result of `stat`, in bytes. */
const STAT_BLOCK = 512;

/** Returns the `lstat` of a path, or undefined if nothing is there. @throws {SnapshotError} `ERR_CACHE` */
export function lstatIfPresent(path: string): BigIntStats | undefined {
  return wrapSystemErrorsSync("ERR_CACHE", `cannot stat ${path}`, () =>
    lstatSync(path, { bigint: true, throwIfNoEntry: false }),
  );
}

/** Returns the disk usage of a file, in bytes. */
export function diskUsage(stats: { readonly blocks: bigint } | undefined): number {
  return stats === undefined ? 0 : Number(stats.blocks) * STAT_BLOCK;
}
