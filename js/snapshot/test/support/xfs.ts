/** Disks of XFS, on which files can share blocks. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

import { mountXfs } from "../../../../scripts/lib/xfs-disk.mjs";

/** A disk that is there until the tests of the file are done, or why there is none. */
export interface XfsDisk {
  /** Paths of what is on it. */
  readonly path: (...parts: string[]) => string;
  /** Why it could not be mounted; there is a folder instead. */
  readonly refusal: string | undefined;
}

/**
 * Makes a disk of `size` bytes, in a sparse file. XFS wants 300 MiB at least.
 *
 * Without `mkfs.xfs` this fails: `scripts/test.mjs` installs it. To mount a disk is up to the machine.
 */
export function xfsDisk(size: number): XfsDisk {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-xfs-"));
  const [image, mounted] = [join(folder, "image"), join(folder, "mounted")];
  mkdirSync(mounted);
  const refusal = mountXfs(image, mounted, size);
  afterAll(() => {
    if (refusal === undefined) execFileSync("umount", [mounted]);
    rmSync(folder, { recursive: true });
  });
  return { path: (...parts) => join(mounted, ...parts), refusal };
}
