import { type BigIntStats, lstatSync } from "node:fs";

import { withFileSync } from "../../local/system-failure.js";

/** What `stat` counts blocks in, in bytes. */
const STAT_BLOCK = 512;

/** What is at a path, which may go at any time. A link is not followed. @throws {SnapshotError} `ERR_CACHE` */
export function find(path: string): BigIntStats | undefined {
  return withFileSync("ERR_CACHE", `cannot look at ${path}`, () =>
    lstatSync(path, { bigint: true, throwIfNoEntry: false }),
  );
}

/** What a file takes on the disk, in bytes. */
export function bytesOf(found: { readonly blocks: bigint } | undefined): number {
  return found === undefined ? 0 : Number(found.blocks) * STAT_BLOCK;
}
