import { randomBytes } from "node:crypto";
import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";

import type { SnapshotInfo } from "@hedgerow/snapshot";

/** The properties of a snapshot, as commands print them with `--json`. */
export interface Info extends SnapshotInfo {
  readonly duration?: number;
}

const MIB = 2 ** 20;

/** A small image: a piece of data, a piece of zeros, and data that ends within a block. */
export const SMALL = Buffer.concat([
  randomBytes(MIB / 2),
  Buffer.alloc(MIB / 2, "text"),
  Buffer.alloc(MIB),
  randomBytes(100),
]);

/** Bytes of data in a large image. */
export const LARGE_DATA = 64 * MIB;

/** Creates a large sparse image: every other 16 MiB are compressible data. */
export function makeLargeImage(path: string): void {
  const data = Buffer.from(randomBytes(8 * MIB).toString("hex"));
  const file = openSync(path, "wx");
  for (let at = 0; at < LARGE_DATA; at += data.length)
    writeSync(file, data, 0, data.length, 2 * at);
  ftruncateSync(file, 2 * LARGE_DATA);
  closeSync(file);
}
