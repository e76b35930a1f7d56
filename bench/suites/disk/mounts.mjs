// Mounts a disk, lists its files and reads some of them, and times that.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inRoot } from "../../../scripts/lib/paths.mjs";
import { resultsOf } from "../../harness/results.mjs";
import { FAST, startServer } from "../../harness/server.mjs";
import { takeTurns } from "../../harness/turns.mjs";
import { about, execute, inNewFolder, withDisk } from "./disks.mjs";
import { MAX_FILE, RUN } from "./guest-files.mjs";
import { start, startNbdkitCurl, uriOf } from "./nbd-servers.mjs";

/** @import { Context } from "./first-byte.mjs" */

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

const CLI = inRoot("js/cli/bin/hedgerow.js");

/**
 * Runs a command until it prints something, then an action, and ends it.
 *
 * @template Made
 * @param {string[]} args
 * @param {() => Promise<Made>} action
 */
async function whileRunning(args, action) {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  try {
    await Promise.race([
      once(child.stdout, "data"),
      exit.then(([code]) => {
        throw new Error(`hedgerow ${args.join(" ")} ended with ${code}`);
      }),
    ]);
    return await action();
  } finally {
    child.kill("SIGTERM");
    await exit;
  }
}

/** Times mounting a snapshot, listing its files and reading some. @param {Context} context */
export async function measureMounts({ inputs, plan }) {
  const { folder, image, snapshot, traces, mountOutput } = inputs;
  const server = await startServer(FAST, { files: [image, snapshot, traces.mount] });
  try {
    const url = server.url(snapshot);
    const used = async (/** @type {string} */ own, begin = performance.now()) => {
      const ready = performance.now() - begin;
      const printed = await useMounted(join(own, "mounted"), own, plan.files);
      const done = performance.now() - begin;
      if (printed !== mountOutput) throw new Error("other files were read than in the recording");
      return { ready, done };
    };
    const mounting = (/** @type {string[]} */ ...flags) => {
      return (/** @type {string} */ own) => {
        mkdirSync(join(own, "mounted"));
        const image = ["--image", join(own, "image")];
        const args = ["disk", "mount", url, join(own, "mounted"), ...image, ...flags];
        const begin = performance.now();
        return whileRunning(args, () => used(own, begin));
      };
    };
    const restoring = async (/** @type {string} */ own) => {
      const image = join(own, "image");
      const begin = performance.now();
      await execute(process.execPath, [CLI, "snapshot", "restore", url, image]);
      return withMounted(image, join(own, "mounted"), () => used(own, begin));
    };
    const lazily = async (/** @type {string} */ own) => {
      const socket = join(own, "socket");
      const begin = performance.now();
      const nbdkit = await startNbdkitCurl(server.url(image), socket);
      try {
        return await withMountedNbd(own, socket, join(own, "mounted"), () => used(own, begin));
      } finally {
        await nbdkit.stop();
      }
    };
    const ways = {
      hedgerow: mounting("--trace", server.url(traces.mount)),
      "hedgerow, no trace": mounting("--no-trace"),
      "full restore": restoring,
      "nbdkit curl": lazily,
    };
    const methods = Object.entries(ways).map(([name, mount]) => ({
      name,
      time: () => inNewFolder(folder, mount),
    }));
    const timed = await takeTurns(methods, plan.rounds);
    return [
      ...resultsOf(about("mount", "ready"), timed, ({ ready }) => ready),
      ...resultsOf(about("mount", "files read"), timed, ({ done }) => done, { files: plan.files }),
    ];
  } finally {
    await server.stop();
  }
}
