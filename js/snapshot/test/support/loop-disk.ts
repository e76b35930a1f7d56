/** Small disks in sparse files, mounted by the loop driver, and in memory. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { mountXfs } from "../../../../scripts/lib/file-systems.mjs";
import { attempt, StepError } from "../../../../scripts/lib/run.mjs";

/** A disk that is mounted until the tests of the file are done. */
export interface LoopDisk {
  /** Returns the path of a file on it. */
  readonly path: (...parts: string[]) => string;
}

/** Mounts a file, and returns the reason if this machine cannot. */
type Mount = (image: string, folder: string, size: number) => string | undefined;

/**
 * Makes an XFS disk of `size` bytes, on which files can share blocks. XFS needs at least 300 MiB. All of these fail
 * without the programs that make file systems, which `scripts/test.mjs` installs, and where nothing can be mounted.
 */
export const xfsDisk = (size: number): LoopDisk => loopDisk(size, mountXfs);

/** Makes an ext4 disk of `size` bytes. */
export const ext4Disk = (size: number): LoopDisk => loopDisk(size, mountExt4);

/** Makes a btrfs disk of `size` bytes, on which files can share blocks. Pass `compress` to compress all data. */
export const btrfsDisk = (size: number, { compress = false } = {}): LoopDisk =>
  loopDisk(size, (image, folder) => {
    const options = compress ? "loop,compress-force=zstd" : "loop";
    return mountMade(image, folder, size, ["mkfs.btrfs", "-q"], options);
  });

/** Makes a file system in memory of `size` bytes, all of which can be used. */
export const memoryDisk = (size: number): LoopDisk =>
  loopDisk(size, (_, folder) => mountAt(folder, ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs"]));

function loopDisk(size: number, mount: Mount): LoopDisk {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-disk-"));
  const [image, mounted] = [join(folder, "image"), join(folder, "mounted")];
  mkdirSync(mounted);
  const refusal = mount(image, mounted, size);
  if (refusal !== undefined) {
    rmSync(folder, { recursive: true });
    throw new StepError(`cannot mount a file system, which these tests need: ${refusal}`);
  }
  afterAll(() => {
    execFileSync("umount", [mounted]);
    rmSync(folder, { recursive: true });
  });
  return { path: (...parts) => join(mounted, ...parts) };
}

function mountExt4(image: string, folder: string, size: number): string | undefined {
  return mountMade(image, folder, size, ["mke2fs", "-q", "-t", "ext4", "-m", "0"]);
}

/** Makes a file system in a sparse file with a program, and mounts it. */
function mountMade(
  image: string,
  folder: string,
  size: number,
  [program, ...args]: readonly [string, ...string[]],
  options = "loop",
): string | undefined {
  writeFileSync(image, "");
  truncateSync(image, size);
  const { status, errors } = attempt(program, [...args, image], { stdout: "pipe" });
  if (status !== 0) throw new StepError(`${program}: ${errors}`);
  return mountAt(folder, ["-o", options, image]);
}

/** Mounts at a folder. Returns why that is refused, if it is. */
function mountAt(folder: string, args: readonly string[]): string | undefined {
  if (process.platform !== "linux") return "not on Linux";
  if (process.getuid?.() !== 0) return "not root";
  const mounted = attempt("mount", [...args, folder]);
  return mounted.status === 0 ? undefined : mounted.errors.trim();
}
