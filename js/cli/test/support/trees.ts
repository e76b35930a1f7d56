/** What is in folders and in file systems. */
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";

const LISTING = fileURLToPath(new URL("listing.py", import.meta.url));

/** Runs a program. Its output is in the error if it fails. */
export function run(program: string, ...args: string[]): string {
  const options: ExecFileSyncOptionsWithStringEncoding = {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    stdio: ["ignore", "pipe", "pipe"],
  };
  return execFileSync(program, args, options);
}

/** Mounts the file system in an image while `use` changes it. The image then stays as it is. */
export async function changeImage(
  image: string,
  directory: string,
  use: () => void,
): Promise<void> {
  run("mount", "-o", "loop", image, directory);
  try {
    use();
    run("sync", "--file-system", directory);
  } finally {
    run("umount", directory);
  }
  // A process of another test that has a mount namespace of its own may have inherited the mount.
  await vi.waitUntil(() => run("losetup", "--associated", image) === "", 50_000);
}

/** All that a file system keeps about an object. */
export interface Listed {
  readonly mode: string;
  readonly owner: readonly [uid: number, gid: number];
  readonly time: number;
  readonly size: number;
  readonly content: string | null;
}

/** Lists a folder: what is in it by path, without what every file system of ours has. */
export function listOf(folder: string): Record<string, Listed> {
  const entries = JSON.parse(run("python3", LISTING, folder)) as Record<string, Listed>;
  for (const own of ["/lost+found", "/.hedgerow", "/.hedgerow/image.json"]) delete entries[own];
  return entries;
}

/** Mounts the file system in an image, and lists it. */
export function listImage(image: string, directory: string): Record<string, Listed> {
  mkdirSync(directory, { recursive: true });
  // The loop device of an earlier mount may still have the image.
  const copy = `${image}.copy`;
  run("cp", "--sparse=always", image, copy);
  run("mount", "-o", "loop,ro", copy, directory);
  try {
    return listOf(directory);
  } finally {
    run("umount", directory);
    rmSync(copy);
  }
}

/** Throws if a file system is damaged. */
export const checkImage = (image: string) => run("e2fsck", "-f", "-n", image);
