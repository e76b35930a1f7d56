// Reads all data of two images: `read-both.mjs IMAGE IMAGE`.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import { dataExtents } from "../../../js/snapshot/dist/local/extents.js";

const CHUNK = 2 ** 20;

const buffer = Buffer.alloc(CHUNK);
for (const path of process.argv.slice(2)) {
  const fd = openSync(path, "r");
  const { size } = fstatSync(fd);
  for (const { start, end } of (await dataExtents(fd, size)) ?? [{ start: 0, end: size }]) {
    for (let at = start; at < end; at += CHUNK)
      readSync(fd, buffer, 0, Math.min(CHUNK, end - at), at);
  }
  closeSync(fd);
}
