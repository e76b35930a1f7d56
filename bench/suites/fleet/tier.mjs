// Many hosts that restore one snapshot at once, from a store and through nginx.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { createSnapshot } from "../../../js/snapshot/dist/index.js";
import { makeExt4Image } from "../../../scripts/lib/file-systems.mjs";
import { startCounter } from "../../../tests/support/tier/counter.mjs";
import { startTier } from "../../../tests/support/tier/nginx.mjs";
import { NODE, resultsOf } from "../../harness/results.mjs";
import { startLink, startS3 } from "../../harness/s3.mjs";
import { roundLogger, takeTurns } from "../../harness/turns.mjs";

/**
 * The hosts, the image, and the rounds.
 *
 * @typedef {{ hosts: number, imageBytes: number, dataBytes: number, rounds: number }} TierPlan
 */

/** @type {TierPlan} */
export const TIER_PLAN = { hosts: 20, imageBytes: 2 ** 30, dataBytes: 256e6, rounds: 2 };

/** @type {TierPlan} */
export const TIER_QUICK = { hosts: 4, imageBytes: 2 ** 28, dataBytes: 30e6, rounds: 1 };

/**
 * A run of all hosts: milliseconds until the last one is done, of the median and the slowest host, requests of all,
 * bytes from the store, and requests that reached it.
 *
 * @typedef {{ total: number, median: number, slowest: number, requests: number, bytes: number, storeRequests: number }} Run
 */

const HOST = fileURLToPath(new URL("tier-host.mjs", import.meta.url));

/**
 * Measures hosts that restore one snapshot at once: from the store, and through a tier that has nothing or everything.
 * The store is behind a link of 30 ms and 90 MB/s for each connection.
 *
 * @param {string} folder an empty one, which every user may enter
 * @param {TierPlan} plan
 * @returns {Promise<import("../../harness/results.mjs").Measured[]>}
 */
export async function measureTier(folder, plan) {
  const { hosts, rounds } = plan;
  mkdirSync(folder, { recursive: true });
  const s3 = await startS3(folder);
  const link = await startLink(s3.options.endpoint);
  const counter = await startCounter(new URL(link.endpoint));
  try {
    const image = join(folder, "image");
    const source = s3.url("image.vhs");
    makeExt4Image(image, plan);
    const { digest, fileSize } = await createSnapshot(image, source, { s3: s3.options });
    rmSync(image);
    const restoreAll = (/** @type {string} */ endpoint, /** @type {number} */ count) =>
      run(folder, source, { digest, workers: 1, s3: { ...s3.options, endpoint } }, count, counter);
    const through = (/** @type {boolean} */ isWarm, /** @type {number} */ count) => async () => {
      const tier = await startTier({ store: counter.url });
      try {
        if (isWarm) await restoreAll(tier.url.href, 1);
        return await restoreAll(tier.url.href, count);
      } finally {
        await tier.close();
      }
    };
    const rowsOf = async (/** @type {number} */ count) => {
      const methods = [
        { name: "directly from the store", time: () => restoreAll(counter.url.href, count) },
        { name: "through nginx, cold", time: through(false, count) },
        { name: "through nginx, warm", time: through(true, count) },
      ];
      // A quick run has the same names.
      const workload = count === 1 ? "1 host" : "20 hosts at once";
      const onRound = roundLogger(workload, rounds);
      const timed = await takeTurns(methods, rounds, { warmUps: 0, onRound });
      return resultsFor(workload, timed, fileSize);
    };
    return [...(await rowsOf(1)), ...(await rowsOf(hosts))];
  } finally {
    await counter.close();
    link.stop();
    await s3.stop();
  }
}

/**
 * @param {string} workload
 * @param {import("../../harness/turns.mjs").Timed<Run>[]} timed
 * @param {number} fileSize of the snapshot
 */
function resultsFor(workload, timed, fileSize) {
  const slowestDirect = Math.min(...(timed[0]?.samples ?? []).map(({ slowest }) => slowest));
  /** @type {[quantity: string, unit: string, figure: (run: Run) => number][]} */
  const rows = [
    ["bytes from the store over one snapshot", "×", ({ bytes }) => bytes / fileSize],
    ["requests that reach the store", "", ({ storeRequests }) => storeRequests],
    ["range requests of the hosts", "", ({ requests }) => requests],
    ["all hosts", "ms", ({ total }) => total],
    ["median host", "ms", ({ median }) => median],
    ["slowest host", "ms", ({ slowest }) => slowest],
    ["slowest host over directly", "×", ({ slowest }) => slowest / slowestDirect],
  ];
  return rows.flatMap(([quantity, unit, figure]) =>
    resultsOf({ suite: `fleet-${NODE}, ${quantity}`, workload, unit }, timed, figure),
  );
}

/**
 * Starts hosts, and lets all restore the snapshot when they are ready.
 *
 * @param {string} folder
 * @param {string} source
 * @param {object} options
 * @param {number} count
 * @param {import("../../../tests/support/tier/counter.mjs").Counter} counter
 * @returns {Promise<Run>}
 */
async function run(folder, source, options, count, counter) {
  const caches = mkdtempSync(join(folder, "caches-"));
  const hosts = Array.from({ length: count }, (_, index) => {
    const args = [HOST, join(caches, `${index}`), source, JSON.stringify(options)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return { child, lines, ended: once(child, "exit") };
  });
  try {
    await Promise.all(hosts.map(({ lines }) => lines.next()));
    const before = { bytes: counter.bytes(), requests: counter.requests() };
    const begin = performance.now();
    for (const { child } of hosts) child.stdin.write("\n");
    const done = await Promise.all(hosts.map(({ lines }) => lines.next()));
    const total = performance.now() - begin;
    const reports = done.map(({ value }) => JSON.parse(value ?? "null"));
    if (reports.includes(null)) throw new Error("a host failed");
    const times = reports.map(({ elapsed }) => elapsed).sort((a, b) => a - b);
    return {
      total,
      median: times[times.length >> 1],
      slowest: times.at(-1),
      requests: reports.reduce((sum, { requests }) => sum + requests, 0),
      bytes: counter.bytes() - before.bytes,
      storeRequests: counter.requests() - before.requests,
    };
  } finally {
    for (const { child } of hosts) child.kill("SIGKILL");
    await Promise.all(hosts.map(({ ended }) => ended));
    rmSync(caches, { recursive: true });
  }
}
