// Measures frameworks with and without an adapter.

import { NODE, resultsOf } from "../../harness/results.mjs";
import { roundLogger, takeTurns } from "../../harness/turns.mjs";
import { FRAMEWORKS } from "./frameworks.mjs";
import { VARIANTS, writeInputs } from "./messages.mjs";
import { withTurns } from "./turns.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @typedef {import("./turns.mjs").Turn} Turn */
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
