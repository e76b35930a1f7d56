import { open } from "node:fs/promises";

import { dataExtents, type Extent } from "../../dist/local/data-extents.js";

export type { Extent };

/** Where a file holds data. What depends on that fails here if nobody can tell. */
export async function extentsOf(path: string): Promise<readonly Extent[]> {
  const file = await open(path, "r");
  try {
    const extents = await dataExtents(file.fd, (await file.stat()).size);
    if (extents !== undefined) return extents;
    throw new Error(
      `cannot tell where ${path} holds data: this needs the package koffi (npm install), ` +
        "Linux, and a file system that knows",
    );
  } finally {
    await file.close();
  }
}
