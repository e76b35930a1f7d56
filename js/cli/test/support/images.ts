import { randomBytes } from "node:crypto";
import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";

const MIB = 2 ** 20;

/** A small image: a piece of data, a piece of zeros, and a tail of data that fills no block. */
export const SMALL = Buffer.concat([
  randomBytes(MIB / 2),
  Buffer.alloc(MIB / 2, "text"),
  Buffer.alloc(MIB),
  randomBytes(100),
]);

/** How much of a large image is data, in bytes. */
export const LARGE_DATA = 256 * MIB;

/** Makes a sparse image that takes a while: every other 16 MiB are data that can be compressed. */
export function makeLargeImage(path: string): void {
  const data = Buffer.from(randomBytes(8 * MIB).toString("hex"));
  const file = openSync(path, "wx");
  for (let at = 0; at < LARGE_DATA; at += data.length)
    writeSync(file, data, 0, data.length, 2 * at);
  ftruncateSync(file, 2 * LARGE_DATA);
  closeSync(file);
}
