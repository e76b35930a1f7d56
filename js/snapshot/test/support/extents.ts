import { open } from "node:fs/promises";

import type { ByteRange } from "../../dist/format/byte-ranges.js";
import { dataExtents } from "../../dist/local/extents.js";

export type { ByteRange };

/** Returns the extents of a file that hold data. Throws if the system cannot report them. */
export async function extentsOf(path: string): Promise<readonly ByteRange[]> {
  const file = await open(path, "r");
  try {
    const extents = await dataExtents(file.fd, (await file.stat()).size);
    if (extents !== undefined) return extents;
    throw new Error(
      `cannot find the data extents of ${path}: this needs Linux, the package koffi (npm install), ` +
        "and a file system that supports SEEK_DATA",
    );
  } finally {
    await file.close();
  }
}
