// A turn: fresh processes, load to warm them up and load that is measured.
import { Process } from "./processes.mjs";

/** @typedef {import("./plan.mjs").Plan} Plan */
/** @typedef {import("./plan.mjs").Variant} Variant */

/**
 * The figures of a turn: requests a second, percentiles in milliseconds, processor time in microseconds a request, and the
 * share of a processor that the measured process used.
 *
 * @typedef {{ rate: number, p50: number, p99: number, processor: number, share: number }} Turn
 */

/** The context of all turns. @typedef {{ plan: Plan, node: string, folder: string, load: Process }} Bench */

/** Starts the process that loads servers. @param {Plan} plan @param {string} node @param {string} folder */
export const startLoad = (plan, node, folder) =>
  new Process(node, "load.mjs", [folder, `${plan.connections}`]);

/**
 * A turn of a server.
 *
 * @param {Bench} bench
 * @param {string} framework
 * @param {Variant} variant
 * @param {string[]} [execArgv] options of Node for the server
 * @returns {Promise<Turn>}
 */
export async function serverTurn({ plan, node, folder, load }, framework, variant, execArgv) {
  const server = new Process(node, "server.mjs", [framework, variant, folder], execArgv);
  try {
    const port = await server.first;
    await load.ask({ port, amount: plan.warmUp });
    const before = await server.ask();
    const seen = await load.ask({ port, seconds: plan.seconds });
    const after = await server.ask();
    const served = after.served - before.served;
    return turnOf(seen, after.processor - before.processor, served);
  } finally {
    await server.end();
  }
}

/**
 * A turn of a client of undici, which loads a bare server.
 *
 * @param {Bench} bench
 * @param {Variant} variant
 * @param {string[]} [execArgv] options of Node for the client
 * @returns {Promise<Turn>}
 */
export async function clientTurn({ plan, node, folder }, variant, execArgv) {
  const server = new Process(node, "server.mjs", ["node:http", "bare", folder]);
  const client = new Process(
    node,
    "client.mjs",
    [variant, folder, `${plan.connections}`],
    execArgv,
  );
  try {
    const port = await server.first;
    await client.first;
    await client.ask({ port, amount: plan.warmUp });
    const seen = await client.ask({ port, seconds: plan.seconds });
    return turnOf(seen, seen.processor, seen.served);
  } finally {
    await client.end();
    await server.end();
  }
}

/**
 * @param {{ rate: number, p50: number, p99: number, seconds: number }} seen
 * @param {number} processor microseconds
 * @param {number} served
 * @returns {Turn}
 */
function turnOf({ rate, p50, p99, seconds }, processor, served) {
  return { rate, p50, p99, processor: processor / served, share: processor / 1e6 / seconds };
}
