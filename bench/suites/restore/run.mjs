// Restores from a server with Hedgerow and other tools, over several networks.
import { join } from "node:path";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { CUT, FAST, LOOPBACK, startServer } from "../../harness/server.mjs";
import { makeInputs } from "./inputs.mjs";
import { allTools, hedgerow } from "./tools.mjs";
import { firstAndLast, memory, takeTurns, times, traffic } from "./turns.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { Server } from "../../harness/server.mjs" */
/** @import { Inputs } from "./inputs.mjs" */
/** @import { Network } from "../../harness/server.mjs" */
/** @import { Plan } from "./suite.mjs" */
/** @import { Targets } from "./tools.mjs" */

/** @typedef {import("../../../js/snapshot/dist/index.js").RestoreOptions} Options */

/**
 * The context of a comparison: the server of a network, and the files that tools read and write.
 *
 * @typedef {{ server: Server, plan: Plan, inputs: Inputs, targets: Targets }} Context
 */

/**
 * Settings of Hedgerow, each compared with the default.
 *
 * @type {Record<string, [name: string, options: Options][]>}
 */
const SETTINGS = {
  workers: [["1 worker", { workers: 1 }]],
  connections: [1, 2, 4, 8, 16, 32, 64].map((connections) => [
    connections === 1 ? "1 connection" : `${connections} connections`,
    { connections },
  ]),
  "part size": [1, 2, 4, 8, 16, 32, 64].map((size) => [
    `${size} MiB`,
    { partSize: size * 2 ** 20 },
  ]),
};

/**
 * The networks, with the comparisons over each. All tools are compared over every network.
 *
 * @type {{ network: Network, settings: string[], sizes: boolean }[]}
 */
const NETWORKS = [
  { network: LOOPBACK, settings: ["workers", "connections"], sizes: true },
  { network: FAST, settings: ["workers", "connections", "part size"], sizes: true },
  { network: CUT, settings: [], sizes: false },
];

/** @param {import("./suite.mjs").Parameters} parameters */
export async function measure(parameters) {
  const { folder, plan } = parameters;
  const inputs = await makeInputs(parameters);
  const targets = { restored: join(folder, "restored"), download: join(folder, "download") };
  const { snapshot, zst, index, store, others } = inputs;
  const files = [snapshot, zst, index, ...others.map((other) => other.snapshot)];
  const results = /** @type {Measured[]} */ ([]);
  for (const { network, settings, sizes } of NETWORKS) {
    const server = await startServer(network, { files, root: store });
    const context = { server, plan, inputs, targets };
    try {
      results.push(...(await compareTools(context, network.name)));
      for (const setting of settings) {
        results.push(...(await compareSettings(context, network.name, setting)));
      }
      if (sizes) results.push(...(await compareSizes(context, network.name)));
      if (network === LOOPBACK) results.push(...(await repeat(context, network.name)));
    } finally {
      await server.stop();
    }
  }
  return results;
}

/** Compares all tools. @param {Context} context @param {string} workload */
async function compareTools({ server, plan, inputs, targets }, workload) {
  const { imageBytes, dataBytes } = plan;
  const tools = allTools(server, inputs, targets);
  const options = { ...plan, targets, image: inputs.image };
  const timed = await takeTurns(`${workload}: tools`, server, tools, options);
  return [
    ...times(workload, timed, { imageBytes, dataBytes }),
    ...traffic(workload, timed, inputs.needed),
    ...memory(workload, timed),
  ];
}

/**
 * Compares values of a setting with the default.
 *
 * @param {Context} context
 * @param {string} network
 * @param {string} setting
 */
async function compareSettings({ server, plan, inputs, targets }, network, setting) {
  const { imageBytes, dataBytes } = plan;
  const workload = `${network}: ${setting}`;
  const url = server.url(inputs.snapshot);
  const tools = [
    hedgerow("hedgerow", url, targets),
    ...(SETTINGS[setting] ?? []).map(([name, options]) => hedgerow(name, url, targets, options)),
  ];
  const timed = await takeTurns(workload, server, tools, { ...plan, targets });
  return [...times(workload, timed, { imageBytes, dataBytes }), ...memory(workload, timed)];
}

/** Compares images of different sizes. @param {Context} context @param {string} network */
async function compareSizes({ server, plan, inputs, targets }, network) {
  const workload = `${network}: size of the image`;
  const { snapshot, others } = inputs;
  const all = [{ name: "hedgerow", snapshot, imageBytes: plan.imageBytes }, ...others];
  const tools = all.map((one) => hedgerow(one.name, server.url(one.snapshot), targets));
  const timed = await takeTurns(workload, server, tools, { ...plan, targets });
  return [...times(workload, timed), ...memory(workload, timed)].map((row) => ({
    ...row,
    details: { imageBytes: all.find(({ name }) => name === row.method)?.imageBytes ?? 0 },
  }));
}

/**
 * Restores three times in a process; the first time also loads and compiles code.
 *
 * @param {Context} context
 * @param {string} workload
 */
async function repeat({ server, plan, inputs, targets }, workload) {
  const url = server.url(inputs.snapshot);
  const tools = [
    hedgerow("hedgerow", url, targets, {}, process.execPath, 3),
    hedgerow("hedgerow, Node 24", url, targets, {}, node24, 3),
  ];
  const timed = await takeTurns(`${workload}: repeats`, server, tools, { ...plan, targets });
  return firstAndLast(workload, timed);
}
