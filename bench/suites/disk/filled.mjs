// Fills a disk, compares the filled one with other NBD servers of the same file, and saves the writes.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createSnapshot, restoreSnapshot } from "../../../js/snapshot/dist/index.js";
import { itself, resultsOf } from "../../harness/results.mjs";
import { FAST, startServer } from "../../harness/server.mjs";
import { takeTurns, timeOf } from "../../harness/turns.mjs";
import { WORKERS } from "../restore/suite.mjs";
import { about, compareFiles, execute, inNewFolder, readPart, withDisk } from "./disks.mjs";
import { changesOf } from "./inputs.mjs";
import { startNbdkit, startQemuNbd, uriOf } from "./nbd-servers.mjs";
import { MAIN, NETWORKS } from "./suite.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { Context } from "./first-byte.mjs" */
/** @import { Disk } from "./disks.mjs" */

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

/** Compares a fill in memory, and copies over NBD during fills on a disk, with full restores. @param {Context} context */
export async function measureFills({ inputs, disk: onDisk, plan }) {
  const { folder: inMemory, image, snapshot } = inputs;
  const results = /** @type {Measured[]} */ ([]);
  for (const network of NETWORKS) {
    const server = await startServer(network, { files: [snapshot] });
    try {
      const url = server.url(snapshot);
      const compare = async (
        /** @type {string} */ quantity,
        /** @type {string} */ folder,
        /** @type {(disk: Disk, own: string) => Promise<unknown>} */ use,
      ) => {
        const methods = [
          making("hedgerow", folder, image, async (own) => {
            const begin = performance.now();
            return withDisk(own, url, {}, async (disk) => {
              await use(disk, own);
              const elapsed = performance.now() - begin;
              await disk.filled;
              return elapsed;
            });
          }),
          making("full restore", folder, image, (own) =>
            timeOf(() => restoreSnapshot(url, join(own, "image"), { workers: WORKERS })),
          ),
        ];
        // The first to use memory waits until the host of this machine provides it.
        const warmUps = network === FAST ? 1 : 0;
        const timed = await takeTurns(methods, plan.rounds, { warmUps });
        results.push(...resultsOf(about(quantity, network.name), timed, itself));
      };
      if (network === FAST) await compare("fill", inMemory, (disk) => disk.filled);
      await compare("copy while filling", onDisk, async (disk, own) => {
        const path = join(own, "socket");
        await disk.listen({ path });
        await execute("nbdcopy", [uriOf(path), "null:"]);
      });
    } finally {
      await server.stop();
    }
  }
  return results;
}

/**
 * Returns a method that makes an image, which is compared once.
 *
 * @param {string} name
 * @param {string} folder
 * @param {string} image
 * @param {(own: string) => Promise<number>} make
 */
function making(name, folder, image, make) {
  let isCompared = false;
  return {
    name,
    time: () =>
      inNewFolder(folder, async (own) => {
        const elapsed = await make(own);
        if (!isCompared) await compareFiles(join(own, "image"), image);
        isCompared = true;
        return elapsed;
      }),
  };
}

/** @param {Context} context */
export function measureSaves({ inputs, plan }) {
  const { folder, image: original, snapshot, blocks } = inputs;
  return inNewFolder(folder, (own) =>
    withDisk(own, snapshot, { trace: false }, async (disk) => {
      await disk.filled;
      const image = join(own, "image");
      const [whole, restored] = [join(own, "whole.vhs"), join(own, "restored")];
      let round = 0;
      const write = async () => {
        round += 1;
        for (const { start, end } of changesOf(inputs, plan.writtenBytes, round)) {
          // The content of another part of the image.
          const from = blocks[(round * 997 * (end - start)) % (blocks.length >> 1)] ?? 0;
          await disk.write(start, readPart(original, from, end - start));
        }
        await disk.flush();
      };
      const save = async () => {
        await write();
        // Each delta is the base of the next one.
        const delta = join(own, `${round}.vhs`);
        const elapsed = await timeOf(() => disk.save(delta));
        if (round === 1) {
          await restoreSnapshot(delta, restored, { resolve: () => snapshot });
          await compareFiles(restored, image);
          rmSync(restored);
        }
        return elapsed;
      };
      const create = () => timeOf(() => createSnapshot(image, whole, { overwrite: true }));
      const fast = [{ name: "hedgerow", time: save }];
      const slow = [{ name: "full snapshot", time: create }];
      const timed = [
        ...(await takeTurns(fast, plan.fastRounds)),
        ...(await takeTurns(slow, plan.rounds, { warmUps: 0 })),
      ];
      return resultsOf(about("save", MAIN), timed, itself, { writtenBytes: plan.writtenBytes });
    }),
  );
}
