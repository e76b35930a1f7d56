// Measures frameworks with and without an adapter.
import { NODE, resultsOf } from "../../harness/results.mjs";
import { roundLogger, takeTurns } from "../../harness/turns.mjs";
import { FRAMEWORKS } from "./frameworks.mjs";
import { VARIANTS, writeInputs } from "./messages.mjs";
import { Process } from "./processes.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @typedef {import("../../harness/turns.mjs").Timed<Turn>} Timed */

const SUITE = `adapters-${NODE}`;

/** @param {{ folder: string, plan: import("./suite.mjs").Plan }} parameters */
export async function measure({ folder, plan }) {
  writeInputs(folder);
  const { rounds, warmUps } = plan;
  const workloads = [...Object.keys(FRAMEWORKS), "undici"];
  const timed = await withTurns({ plan, folder }, (turn) => {
    const methods = workloads.flatMap((workload) =>
      VARIANTS.map((name) => ({ name, time: () => turn(workload, name) })),
    );
    return takeTurns(methods, rounds, { warmUps, onRound: roundLogger("adapters", rounds) });
  });
  return workloads.flatMap((workload, index) => {
    const variants = timed.slice(index * VARIANTS.length, (index + 1) * VARIANTS.length);
    const [bare] = variants;
    return variants.flatMap((variant) => rowsOf(workload, variant, bare?.samples ?? []));
  });
}

/** @param {string} workload @param {Timed} timed @param {Turn[]} bare the framework alone @returns {Measured[]} */
function rowsOf(workload, timed, bare) {
  const { name: method, why } = timed;
  if (why !== undefined) return [{ suite: SUITE, workload, method, why }];
  /**
   * Returns a function that divides a figure by that of the bare framework in the same round.
   *
   * @param {"rate" | "processor"} figure
   * @returns {(turn: Turn, round: number) => number}
   */
  const overBare = (figure) => (turn, round) =>
    turn[figure] / (bare[round]?.[figure] ?? Number.NaN);
  /** @type {[what: string, unit: string, figure: (turn: Turn, round: number) => number][]} */
  const rows = [
    ["requests a second", "requests/s", ({ rate }) => rate],
    ["requests a second over bare", "×", overBare("rate")],
    ["processor time", "µs/request", ({ processor }) => processor],
    ["processor time over bare", "×", overBare("processor")],
    ["p50", "ms", ({ p50 }) => p50],
    ["p99", "ms", ({ p99 }) => p99],
    ["share of a processor", "×", ({ share }) => share],
  ];
  return rows.flatMap(([what, unit, figure]) =>
    resultsOf({ suite: `${SUITE}, ${what}`, workload, unit }, [timed], figure),
  );
}

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
 */

/**
 * Calls an action with a function that runs a turn of a framework, or of `undici` as a client.
 *
 * @template Done
 * @param {Bench} bench
 * @param {(turn: (framework: string, variant: string) => Promise<Turn>) => Promise<Done>} action
 */
async function withTurns({ plan, folder }, action) {
  const { warmUp, seconds } = plan;
  const load = new Process("load.mjs", [folder]);
  await load.first;

  /** @param {string} framework @param {string} variant */
  const serverTurn = async (framework, variant) => {
    const server = new Process("server.mjs", [framework, variant, folder]);
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
    const server = new Process("server.mjs", ["node:http", "bare", folder]);
    const client = new Process("client.mjs", [variant, folder]);
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
