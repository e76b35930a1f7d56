// Times the fill of a disk, alone and while it is copied.
import { join } from "node:path";

import { restoreSnapshot } from "../../../js/snapshot/dist/index.js";
import { itself, resultsOf } from "../../harness/results.mjs";
import { startServer } from "../../harness/server.mjs";
import { takeTurns, timeOf } from "../../harness/turns.mjs";
import { FAST, WORKERS } from "../restore/plan.mjs";
import { compareFiles, execute, inNewFolder, withDisk } from "./disks.mjs";
import { uriOf } from "./nbd-servers.mjs";
import { NETWORKS } from "./plan.mjs";
import { about } from "./results.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { Disk } from "./disks.mjs" */
/** @import { Context } from "./first-byte.mjs" */

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
