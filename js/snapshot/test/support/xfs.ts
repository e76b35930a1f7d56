/** XFS disks, on which files can share blocks. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

import { mountXfs } from "../../../../scripts/lib/xfs-disk.mjs";

/** A disk that stays mounted during the tests of a file, or the reason why it could not be mounted. */
export interface XfsDisk {
  /** Returns a path on the disk. */
  readonly path: (...parts: string[]) => string;
  /** Why it could not be mounted. Then paths are in an ordinary folder. */
  readonly refusal: string | undefined;
}

/**
 * Makes a disk of `size` bytes in a sparse file. XFS needs at least 300 MiB.
 *
 * Fails without `mkfs.xfs`, which `scripts/test.mjs` installs. Whether a disk can be mounted depends on the machine.
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
