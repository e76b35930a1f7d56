// Times the commands that open and mount a disk.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "../../../scripts/lib/paths.mjs";
import { itself, resultsOf } from "../../harness/results.mjs";
import { startServer } from "../../harness/server.mjs";
import { takeTurns, timeOf } from "../../harness/turns.mjs";
import { FAST } from "../restore/plan.mjs";
import { execute, inNewFolder } from "./disks.mjs";
import { useMounted, withMounted, withMountedNbd } from "./mounts.mjs";
import { greeting, startNbdkitCurl } from "./nbd-servers.mjs";
import { MAIN } from "./plan.mjs";
import { about } from "./results.mjs";

/** @import { Context } from "./first-byte.mjs" */

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

/** Times a process until its disk answers. @param {Context} context */
export async function measureProcess({ inputs, plan }) {
  const { folder, snapshot } = inputs;
  const server = await startServer(FAST, { files: [snapshot] });
  try {
    const open = (/** @type {string} */ own) => {
      const socket = join(own, "socket");
      const flags = ["--image", join(own, "image"), "--socket", socket];
      const begin = performance.now();
      return whileRunning(["disk", "open", server.url(snapshot), ...flags], async () => {
        await greeting(socket);
        return performance.now() - begin;
      });
    };
    const methods = [
      { name: "hedgerow", time: () => inNewFolder(folder, open) },
      { name: "node", time: () => timeOf(() => execute(process.execPath, ["-e", ""])) },
    ];
    const timed = await takeTurns(methods, plan.fastRounds);
    return resultsOf(about("process", MAIN), timed, itself);
  } finally {
    await server.stop();
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
