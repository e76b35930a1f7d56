// Compares a filled disk with other NBD servers of the same file.
import { rmSync } from "node:fs";
import { join } from "node:path";

import { itself, resultsOf } from "../../harness/results.mjs";
import { takeTurns, timeOf } from "../../harness/turns.mjs";
import { compareFiles, execute, inNewFolder, withDisk } from "./disks.mjs";
import { startNbdkit, startQemuNbd, uriOf } from "./nbd-servers.mjs";
import { about } from "./results.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { Context } from "./first-byte.mjs" */

/** @param {Context} context */
export function measureFilled({ inputs, disk: parent, plan }) {
  const { folder, image: original, snapshot } = inputs;
  return inNewFolder(parent, (own) =>
    withDisk(own, snapshot, { trace: false }, async (disk) => {
      await disk.filled;
      const image = join(own, "image");
      const sockets = {
        hedgerow: join(own, "hedgerow"),
        "qemu-nbd": join(own, "qemu-nbd"),
        nbdkit: join(own, "nbdkit"),
      };
      await disk.listen({ path: sockets.hedgerow });
      const servers = [];
      try {
        servers.push(await startQemuNbd(image, sockets["qemu-nbd"]));
        servers.push(await startNbdkit(image, sockets.nbdkit, "--readonly"));
        for (const socket of Object.values(sockets)) await compare(socket, folder, original);
        return await measureServers(sockets, plan);
      } finally {
        for (const server of servers) await server.stop();
      }
    }),
  );
}

/** Throws unless a server returns the bytes of the image. @param {string} socket @param {string} folder @param {string} original */
async function compare(socket, folder, original) {
  const copy = join(folder, "copy");
  await execute("nbdcopy", [uriOf(socket), copy]);
  await compareFiles(copy, original);
  rmSync(copy);
}

/** @param {Record<string, string>} sockets by server @param {Context["plan"]} plan */
async function measureServers(sockets, { rounds, copyRounds, fioSeconds }) {
  const results = /** @type {Measured[]} */ ([]);
  const methodsOf = (/** @type {(uri: string) => Promise<number>} */ time) =>
    Object.entries(sockets).map(([name, socket]) => ({ name, time: () => time(uriOf(socket)) }));
  for (const depth of [1, 32]) {
    const methods = methodsOf((uri) => readsPerSecond(uri, depth, fioSeconds));
    const timed = await takeTurns(methods, rounds, { warmUps: 0 });
    results.push(...resultsOf(about("random reads", `depth ${depth}`, "reads/s"), timed, itself));
  }
  const copies = {
    nbdcopy: (/** @type {string} */ uri) => ["nbdcopy", uri, "null:"],
    "qemu-img convert": (/** @type {string} */ uri) => [
      ...["qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", uri],
      `json:{"driver":"raw","file":{"driver":"null-co","size":${2 ** 40}}}`,
    ],
  };
  for (const [name, command] of Object.entries(copies)) {
    const methods = methodsOf((uri) => {
      const [program = "", ...args] = command(uri);
      return timeOf(() => execute(program, args));
    });
    const timed = await takeTurns(methods, copyRounds);
    results.push(...resultsOf(about("copy", name), timed, itself));
  }
  return results;
}

/** @param {string} uri @param {number} depth @param {number} seconds */
async function readsPerSecond(uri, depth, seconds) {
  const { stdout } = await execute("fio", [
    ...["--name=reads", "--ioengine=nbd", `--uri=${uri}`, "--rw=randread", "--bs=4k"],
    ...[`--iodepth=${depth}`, "--time_based", `--runtime=${seconds}`, "--output-format=json"],
  ]);
  return JSON.parse(stdout.slice(stdout.indexOf("{"))).jobs[0].read.iops;
}
