// Mounts a disk, lists its files and reads some of them.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { execute, inNewFolder, withDisk } from "./disks.mjs";
import { MAX_FILE, RUN } from "./guest-files.mjs";
import { start, uriOf } from "./nbd-servers.mjs";

/** Milliseconds between looks at a file. */
const INTERVAL = 10;

/** Prints a digest of the names of all files and of the content of some small ones, as in a guest. */
const USE = `cd "$1"
find . -type f -printf '%s %p\\n' | LC_ALL=C sort -k 2 > "$2/list"
awk -v max="$5" '$1 <= max { sub(/^[0-9]+ /, ""); print }' "$2/list" > "$2/small"
lines=$(wc -l < "$2/small")
awk -v run="$4" -v every=$((lines / $3 + 1)) 'int((NR - 1) / run) % every == 0' "$2/small" | tr '\\n' '\\0' | xargs -0 cat | cat "$2/list" - | sha256sum`;

/**
 * Lists all files and reads some. Returns a digest.
 *
 * @param {string} directory
 * @param {string} folder for a file
 * @param {number} files
 */
export async function useMounted(directory, folder, files) {
  const args = ["-e", "-c", USE, "sh", directory, folder, ...[files, RUN, MAX_FILE].map(String)];
  return (await execute("sh", args)).stdout;
}

/**
 * Mounts an image at a new folder, and calls back.
 *
 * @template Made
 * @param {string} image
 * @param {string} directory
 * @param {() => Promise<Made>} use
 */
export async function withMounted(image, directory, use) {
  mkdirSync(directory, { recursive: true });
  await execute("mount", ["--options", "loop,ro", image, directory]);
  try {
    return await use();
  } finally {
    await execute("umount", [directory]);
  }
}

/**
 * Mounts the disk of an NBD server at a new folder, and calls back.
 *
 * @template Made
 * @param {string} folder for another directory
 * @param {string} socket
 * @param {string} directory
 * @param {() => Promise<Made>} use
 */
export async function withMountedNbd(folder, socket, directory, use) {
  const fuse = join(folder, "fuse");
  mkdirSync(fuse);
  const file = join(fuse, "disk");
  const nbdfuse = start("nbdfuse", "--readonly", file, uriOf(socket));
  try {
    while (!existsSync(file) && !nbdfuse.hasEnded()) await sleep(INTERVAL);
    return await withMounted(file, directory, use);
  } finally {
    await execute("umount", [fuse]);
    await nbdfuse.stop();
  }
}

/**
 * Mounts a snapshot and uses it. Returns the digest and the trace.
 *
 * @param {string} parent
 * @param {string} snapshot
 * @param {number} files
 */
export function recordMount(parent, snapshot, files) {
  return inNewFolder(parent, (folder) =>
    withDisk(folder, snapshot, { fill: "none", trace: false, readOnly: true }, async (disk) => {
      const [socket = "", directory = ""] = ["socket", "mounted"].map((name) => join(folder, name));
      await disk.listen({ path: socket });
      const use = () => useMounted(directory, folder, files);
      const printed = await withMountedNbd(folder, socket, directory, use);
      return { printed, trace: disk.trace };
    }),
  );
}
