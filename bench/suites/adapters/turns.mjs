// A turn: fresh processes, load to warm them up and load that is measured.
import { Process } from "./processes.mjs";

/**
 * The figures of a turn: requests a second, percentiles in milliseconds, processor time in microseconds a request, and
 * the share of a processor that the measured process used.
 *
 * @typedef {{ rate: number, p50: number, p99: number, processor: number, share: number }} Turn
 */

/**
 * The context of turns.
 *
 * @typedef {object} Bench
 * @property {import("./suite.mjs").Plan} plan
 * @property {string} folder with the inputs
 * @property {string} [node] the program that runs the processes; default: the current one
 * @property {string[]} [options] of Node, for the measured process
 */

/**
 * Calls an action with a function that runs a turn of a framework, or of `undici` as a client.
 *
 * @template Done
 * @param {Bench} bench
 * @param {(turn: (framework: string, variant: string) => Promise<Turn>) => Promise<Done>} action
 */
export async function withTurns({ plan, folder, node = process.execPath, options = [] }, action) {
  const { warmUp, seconds } = plan;
  const load = new Process(node, "load.mjs", [folder]);
  await load.first;

  /** @param {string} framework @param {string} variant */
  const serverTurn = async (framework, variant) => {
    const server = new Process(node, "server.mjs", [framework, variant, folder], options);
    try {
      const port = await server.first;
      await load.ask({ port, amount: warmUp });
      const before = await server.ask();
      const seen = await load.ask({ port, seconds });
      const after = await server.ask();
      const served = after.served - before.served;
      return turnOf(seen, after.processor - before.processor, served);
    } finally {
      await server.end();
    }
  };

  /** The client loads a bare server. @param {string} variant */
  const clientTurn = async (variant) => {
    const server = new Process(node, "server.mjs", ["node:http", "bare", folder]);
    const client = new Process(node, "client.mjs", [variant, folder], options);
    try {
      const port = await server.first;
      await client.first;
      await client.ask({ port, amount: warmUp });
      const seen = await client.ask({ port, seconds });
      return turnOf(seen, seen.processor, seen.served);
    } finally {
      await client.end();
      await server.end();
    }
  };

  try {
    return await action((framework, variant) =>
      framework === "undici" ? clientTurn(variant) : serverTurn(framework, variant),
    );
  } finally {
    await load.end();
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
