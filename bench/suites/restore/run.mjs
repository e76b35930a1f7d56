// Restores from a server with Hedgerow and other tools: `run.mjs FOLDER PLAN [DESYNC_ERROR]` with a folder for temporary
// files, the plan as JSON, and why there is no `desync`. Prints its results as a JSON array.
import { join } from "node:path";
import { log } from "../../harness/progress.mjs";
import { Server } from "../../harness/server.mjs";
import { makeInputs } from "./inputs.mjs";
import { CONNECTIONS, CUT, FAST, LOOPBACK, PART_SIZES } from "./plan.mjs";
import { lowerBound, memory, times, traffic } from "./results.mjs";
import { allTools, hedgerow, parts } from "./tools.mjs";
import { maxConnections, takeTurns } from "./turns.mjs";

/** @typedef {import("./plan.mjs").Network} Network */
/** @typedef {import("./tools.mjs").Tool} Tool */
/** @typedef {import("../../harness/results.mjs").Measured} Measured */
/** @typedef {[name: string, options: import("../../../js/snapshot/dist/index.js").RestoreOptions]} Setting */

const [, , folder = "", json = "", desyncError] = process.argv;
/** @type {import("./plan.mjs").Plan} */
const plan = JSON.parse(json);
const { rounds, warmUps, imageBytes, dataBytes } = plan;
const details = { imageBytes, dataBytes };
const inputs = await makeInputs(folder, plan, desyncError);
const { image, snapshot, zst, index, store, others, needed } = inputs;
const targets = { restored: join(folder, "restored"), download: join(folder, "download") };
const files = [snapshot, zst, index, ...others.map((other) => other.snapshot)];

/**
 * Compares all tools and the steps of a restore.
 *
 * @param {Server} server
 * @param {string} name
 * @returns {Promise<Measured[]>}
 */
async function compareTools(server, name) {
  const tools = allTools(server, inputs, targets);
  let connections = 1;
  for (let probe = 0; probe < plan.probes; probe += 1) {
    const hedgerowTool = /** @type {Tool} */ (tools[0]);
    connections = Math.max(connections, await maxConnections(server, hedgerowTool, targets));
  }
  const all = [...tools, ...parts(server, inputs, targets, connections)];
  const timed = await takeTurns(`${name}: tools`, server, all, {
    ...{ rounds, warmUps, targets, image },
  });
  const restoring = timed.slice(0, tools.length);
  return [
    ...times(name, restoring, details),
    ...traffic(name, restoring, needed),
    ...memory(name, restoring),
    ...lowerBound(name, timed, connections),
  ];
}

/**
 * Compares settings of Hedgerow.
 *
 * @param {Server} server
 * @param {string} workload
 * @param {Setting[]} settings
 */
async function compareSettings(server, workload, settings) {
  const url = server.url(snapshot);
  const tools = settings.map(([name, options]) => hedgerow(name, url, targets, options));
  const timed = await takeTurns(workload, server, tools, { rounds, warmUps, targets });
  return [...times(workload, timed, details), ...memory(workload, timed)];
}

/** @param {Server} server @param {string} name @returns {Promise<Measured[]>} */
async function compareWorkers(server, name) {
  return compareSettings(server, `${name}: workers`, [
    ["hedgerow", {}],
    ["1 worker", { workers: 1 }],
  ]);
}

/** @param {Server} server @param {string} name @returns {Promise<Measured[]>} */
async function compareConnections(server, name) {
  return compareSettings(server, `${name}: connections`, [
    ["hedgerow", {}],
    ...CONNECTIONS.map(
      (connections) => /** @type {Setting} */ ([counted(connections), { connections }]),
    ),
  ]);
}

/** @param {number} connections */
const counted = (connections) =>
  connections === 1 ? "1 connection" : `${connections} connections`;

/** @param {Server} server @param {string} name @returns {Promise<Measured[]>} */
async function comparePartSizes(server, name) {
  return compareSettings(server, `${name}: part size`, [
    ["hedgerow", {}],
    ...PART_SIZES.map(
      (size) => /** @type {Setting} */ ([`${size} MiB`, { partSize: size * 2 ** 20 }]),
    ),
  ]);
}

/** @param {Server} server @param {string} name @returns {Promise<Measured[]>} */
async function compareSizes(server, name) {
  const workload = `${name}: size of the image`;
  const all = [{ name: "hedgerow", snapshot, imageBytes }, ...others];
  const tools = all.map((one) => hedgerow(one.name, server.url(one.snapshot), targets));
  const timed = await takeTurns(workload, server, tools, { rounds, warmUps, targets });
  return [...times(workload, timed, details), ...memory(workload, timed)].map((row) => ({
    ...row,
    details: { imageBytes: all.find((one) => one.name === row.method)?.imageBytes ?? 0 },
  }));
}

/** @type {[network: Network, comparisons: ((server: Server, name: string) => Promise<Measured[]>)[]][]} */
const ALL = [
  [LOOPBACK, [compareTools, compareWorkers, compareConnections, compareSizes]],
  [FAST, [compareTools, compareWorkers, compareConnections, comparePartSizes, compareSizes]],
  [CUT, [compareTools]],
];

/** @type {Measured[]} */
const results = [];
const count = ALL.flatMap(([, comparisons]) => comparisons).length;
let done = 0;
for (const [network, comparisons] of ALL) {
  const server = await Server.start(network, { files, root: store });
  try {
    for (const compare of comparisons) {
      done += 1;
      log(`comparison ${done} of ${count}`);
      results.push(...(await compare(server, network.name)));
    }
  } finally {
    await server.stop();
  }
}
console.log(JSON.stringify(results));
