// Times restores from a server with and without a cache.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { resultsOf } from "../../harness/results.mjs";
import { startServer } from "../../harness/server.mjs";
import { FAST } from "../restore/plan.mjs";
import { hedgerow } from "../restore/tools.mjs";
import { succeeded, takeTurns } from "../restore/turns.mjs";
import { SUITE, times } from "./caches.mjs";

const SCRIPT = fileURLToPath(new URL("restore.mjs", import.meta.url));

/**
 * @param {string} folder
 * @param {import("../../../js/snapshot/dist/index.js").ImageCache} cache
 * @param {import("./caches.mjs").Sample} sample an image of the cache
 * @param {number} rounds
 */
export async function measureRestores(folder, cache, sample, rounds) {
  const { name, snapshot, digest, dataBytes } = sample;
  const restored = join(folder, "restored.img");
  const targets = { restored, download: restored };
  const caches = mkdtempSync(join(folder, "caches-"));
  const server = await startServer(FAST, { files: [snapshot] });
  try {
    const url = server.url(snapshot);
    const through = (/** @type {string} */ method, /** @type {string[]} */ ...args) => ({
      name: method,
      command: process.execPath,
      args: [SCRIPT, url, restored, ...args],
      makesImage: true,
    });
    const tools = [
      hedgerow("without a cache", url, targets, { digest }),
      through("with a cache, a miss", caches, digest, "new"),
      through("with a cache, a hit", cache.directory, digest),
    ];
    const what = `restores of ${name} from ${FAST.name}`;
    const timed = await takeTurns(what, server, tools, { rounds, warmUps: 1, targets });
    const workload = `${name}, ${FAST.name}`;
    const elapsed = timed.map((one) => ({
      ...one,
      samples: one.samples.map((run) => run.elapsed),
    }));
    const sent = { suite: `${SUITE}, bytes sent`, workload, unit: "MB" };
    return [
      ...times("restores", workload, elapsed, { dataBytes }),
      ...resultsOf(sent, succeeded(timed), ({ bytes }) => bytes / 1e6),
    ];
  } finally {
    await server.stop();
    for (const path of [restored, caches]) rmSync(path, { recursive: true, force: true });
  }
}
