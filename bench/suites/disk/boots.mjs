// Times boots of a guest from disks, and from a file.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { restoreSnapshot } from "../../../js/snapshot/dist/index.js";
import { result, resultsOf } from "../../harness/results.mjs";
import { FAST, startServer } from "../../harness/server.mjs";
import { roundLogger, takeTurns } from "../../harness/turns.mjs";
import { copyFile } from "../delta/inputs.mjs";
import { WORKERS } from "../restore/suite.mjs";
import { boot, fileDrive, nbdDrive } from "./boot.mjs";
import { about, execute, inNewFolder, withDisk } from "./disks.mjs";
import { WORKLOAD } from "./guest-files.mjs";
import { startNbdfuse, startNbdkit, startNbdkitCurl, startVhostUser } from "./nbd-servers.mjs";
import { NETWORKS } from "./suite.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { Server } from "../../harness/server.mjs" */
/** @import { Options } from "./disks.mjs" */
/** @import { Context } from "./first-byte.mjs" */

/**
 * A boot: milliseconds until the disk is served, the shell is ready and the workload is done, and the bytes that the
 * server of the snapshot has sent by then.
 *
 * @typedef {{ served: number, shell: number, done: number, fetched: number }} Boot
 */

/** @import { Disk } from "../../../tests/support/guest/guest.mjs" */

/** Makes a disk available, and runs a guest with it. @typedef {(folder: string, run: (disk: Disk) => Promise<void>) => Promise<void>} Serve */

/** The methods over the slower network, and those of a quick run. */
const ON_SHARED = ["hedgerow", "hedgerow, no trace", "full restore"];
const QUICK = [...ON_SHARED, "local file"];

/** Other programs that fetch on demand. They take longer, and have fewer rounds. */
const LAZY = ["nbdkit curl", "qcow2 over HTTP"];

/**
 * Bytes that QEMU fetches ahead. Of 256 KiB, its default, to 8 MiB, the powers of two, a boot was fastest with this.
 */
const READAHEAD = 2 ** 21;

/** @param {Context} context */
export async function measureBoots(context) {
  const { inputs, plan } = context;
  const results = /** @type {Measured[]} */ ([]);
  const networks = plan.allBoots ? NETWORKS : [FAST];
  for (const network of networks) {
    const { image, qcow2, snapshot, traces } = inputs;
    const files = [image, qcow2, snapshot, traces.boot, traces.other];
    const server = await startServer(network, { files });
    try {
      const names = network === FAST ? undefined : ON_SHARED;
      const methods = methodsOf(context, server).filter(
        ({ name }) => (names?.includes(name) ?? true) && (plan.allBoots || QUICK.includes(name)),
      );
      const timed = [];
      for (const isLazy of [false, true]) {
        const rounds = isLazy ? plan.rounds : plan.bootRounds;
        const onRound = roundLogger(`boots, ${network.name}`, rounds);
        const some = methods.filter(({ name }) => LAZY.includes(name) === isLazy);
        timed.push(...(await takeTurns(some, rounds, { warmUps: 0, onRound })));
      }
      for (const milestone of /** @type {const} */ (["served", "shell", "done"])) {
        const at = about(`boot, ${milestone}`, network.name);
        results.push(...resultsOf(at, timed, (run) => run[milestone]));
      }
      const fetched = about("boot, fetched", network.name, "MB");
      results.push(...resultsOf(fetched, timed, (run) => run.fetched / 1e6));
      if (network === FAST) results.push(...overBaselines(timed));
    } finally {
      await server.stop();
    }
  }
  return results;
}

/**
 * Returns the time of a boot with a trace over that from a local file, and the bytes of a boot that fetches its trace
 * alone over those of one on demand, of the same round.
 *
 * @param {import("../../harness/turns.mjs").Timed<Boot>[]} timed
 */
function overBaselines(timed) {
  const samples = (/** @type {string} */ method) =>
    timed.find(({ name }) => name === method)?.samples ?? [];
  const over = (
    /** @type {string} */ method,
    /** @type {string} */ baseline,
    /** @type {"done" | "fetched"} */ figure,
  ) => {
    const of = samples(baseline);
    return samples(method).flatMap((run, round) => {
      const base = of[round];
      return base === undefined ? [] : [run[figure] / base[figure]];
    });
  };
  /** @type {[workload: string, ratios: number[]][]} */
  const ratios = [
    ["with a trace / local file", over("hedgerow", "local file", "done")],
    ["with a trace / local file, nbdkit", over("hedgerow", "local file, nbdkit", "done")],
    ["no trace / full restore", over("hedgerow, no trace", "full restore", "done")],
    ["vhost-user-blk / NBD", over("hedgerow, vhost-user-blk", "hedgerow", "done")],
    ["FUSE / NBD", over("hedgerow, FUSE", "hedgerow", "done")],
    ["another trace / no trace", over("hedgerow, another trace", "hedgerow, no trace", "done")],
    [
      "trace alone / on demand, bytes",
      over("hedgerow, trace alone", "hedgerow, on demand", "fetched"),
    ],
  ];
  return ratios.flatMap(([workload, of]) =>
    of.length === 0 ? [] : [result(about("boot, ratio", workload, "×"), "hedgerow", of)],
  );
}

/** @param {Context} context @param {Server} server */
function methodsOf({ inputs }, server) {
  const { image, qcow2, snapshot, traces } = inputs;
  const url = server.url(snapshot);
  /** @param {Options} options @returns {Serve} */
  const disk = (options) => (folder, run) =>
    withDisk(folder, url, options, async (opened) => {
      const path = join(folder, "socket");
      await opened.listen({ path });
      await run(nbdDrive(path));
    });
  /**
   * @param {(socket: string, path: string) => ReturnType<typeof startVhostUser>} start
   * @param {(path: string) => Disk} diskAt
   * @returns {Serve}
   */
  const device = (start, diskAt) => (folder, run) =>
    withDisk(folder, url, {}, async (opened) => {
      const [socket, mount] = [join(folder, "socket"), join(folder, "mount")];
      mkdirSync(mount);
      await opened.listen({ path: socket });
      const path = join(mount, "device");
      const engine = await start(socket, path);
      try {
        await run(diskAt(path));
      } finally {
        await engine.stop();
      }
    });
  /** @type {Record<string, Serve>} */
  const ways = {
    hedgerow: disk({}),
    "hedgerow, vhost-user-blk": device(startVhostUser, (path) => ({ vhostUser: path })),
    "hedgerow, FUSE": device(startNbdfuse, (path) => fileDrive(path)),
    "hedgerow, no trace": disk({ trace: false }),
    "hedgerow, on demand": disk({ trace: false, fill: "none" }),
    "hedgerow, trace alone": disk({ fill: "none" }),
    "hedgerow, another trace": disk({ trace: server.url(traces.other) }),
    "full restore": async (folder, run) => {
      const target = join(folder, "image");
      await restoreSnapshot(url, target, { workers: WORKERS });
      await run(fileDrive(target));
    },
    "local file": (folder, run) => run(fileDrive(join(folder, "copy"))),
    "local file, nbdkit": served((folder, socket) => startNbdkit(join(folder, "copy"), socket)),
    "nbdkit curl": served((_, socket) => startNbdkitCurl(server.url(image), socket)),
    "qcow2 over HTTP": async (folder, run) => {
      const overlay = join(folder, "overlay");
      const file = { driver: "http", url: server.url(qcow2), readahead: READAHEAD };
      const base = `json:${JSON.stringify({ driver: "qcow2", file })}`;
      await execute("qemu-img", ["create", "-f", "qcow2", "-F", "qcow2", "-b", base, overlay]);
      await run(fileDrive(overlay, "qcow2"));
    },
  };
  return Object.entries(ways).map(([name, serve]) => ({
    name,
    time: () =>
      inNewFolder(inputs.folder, async (folder) => {
        // A guest writes to its file, too.
        if (name.startsWith("local file")) copyFile(image, join(folder, "copy"), "--sparse=always");
        return timeBoot(server, inputs.bootOutput, (run) => serve(folder, run));
      }),
  }));
}

/**
 * Serves a disk with another NBD server.
 *
 * @param {(folder: string, socket: string) => ReturnType<typeof startNbdkit>} start
 * @returns {Serve}
 */
function served(start) {
  return async (folder, run) => {
    const socket = join(folder, "socket");
    const server = await start(folder, socket);
    try {
      await run(nbdDrive(socket));
    } finally {
      await server.stop();
    }
  };
}

/**
 * @param {Server} server
 * @param {string} expected
 * @param {(run: (disk: Disk) => Promise<void>) => Promise<void>} serve
 * @returns {Promise<Boot>}
 */
async function timeBoot(server, expected, serve) {
  const before = await server.stats();
  const times = { served: 0, shell: 0, done: 0, fetched: 0 };
  const begin = performance.now();
  const elapsed = () => performance.now() - begin;
  await serve(async (disk) => {
    times.served = elapsed();
    const onShell = () => {
      times.shell = elapsed();
    };
    const onDone = async () => {
      times.done = elapsed();
      times.fetched = (await server.stats()).bytes - before.bytes;
    };
    const printed = await boot(disk, WORKLOAD, { onShell, onDone });
    if (printed !== expected) throw new Error(`the guest printed ${printed}`);
  });
  return times;
}
