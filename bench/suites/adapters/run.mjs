// Measures frameworks with and without an adapter: `run.mjs FOLDER PLAN` with a folder for temporary files and the plan as
// JSON. Prints its results as a JSON array.
import { summary } from "../../../scripts/lib/summary.mjs";
import { roundLogger } from "../../harness/progress.mjs";
import { takeTurns } from "../../harness/turns.mjs";
import { FRAMEWORKS } from "./frameworks.mjs";
import { writeInputs } from "./inputs.mjs";
import { VARIANTS } from "./plan.mjs";
import { clientTurn, serverTurn, startLoad } from "./turns.mjs";

/** @typedef {import("../../harness/results.mjs").Measured} Measured */
/** @typedef {import("./plan.mjs").Variant} Variant */
/** @typedef {import("./turns.mjs").Turn} Turn */

const SUITE = `adapters-node${process.versions.node.split(".")[0]}`;

const [, , folder = "", json = ""] = process.argv;
/** @type {import("./plan.mjs").Plan} */
const plan = JSON.parse(json);
writeInputs(folder);
const load = startLoad(plan, process.execPath, folder);
await load.first;
const bench = { plan, node: process.execPath, folder, load };

/** @type {Record<string, (variant: Variant) => Promise<Turn>>} */
const workloads = Object.fromEntries(
  Object.keys(FRAMEWORKS).map((name) => [
    name,
    (/** @type {Variant} */ variant) => serverTurn(bench, name, variant),
  ]),
);
workloads.undici = (variant) => clientTurn(bench, variant);

const methods = Object.entries(workloads).flatMap(([workload, turn]) =>
  VARIANTS.map((variant) => ({ name: variant, workload, time: () => turn(variant) })),
);
const { rounds, warmUps } = plan;
const onRound = roundLogger("adapters", rounds);
const timed = await takeTurns(methods, rounds, { warmUps, onRound });
await load.end();
console.log(JSON.stringify(resultsOf(timed)));

/** @typedef {import("../../harness/turns.mjs").Timed<Turn>} Timed */

/** @param {Timed[]} timed in the order of `methods` */
function resultsOf(timed) {
  return timed.flatMap((one, index) => {
    const { workload = "" } = methods[index] ?? {};
    const bare = methods.findIndex((one) => one.workload === workload && one.name === "bare");
    return rowsOf(workload, one, timed[bare]?.samples ?? []);
  });
}

/** @param {string} workload @param {Timed} timed @param {Turn[]} bare the framework alone @returns {Measured[]} */
function rowsOf(workload, { name: method, samples, why }, bare) {
  if (why !== undefined) return [{ suite: SUITE, workload, method, why }];
  const row = (
    /** @type {string} */ what,
    /** @type {string} */ unit,
    /** @type {(turn: Turn, round: number) => number} */ pick,
  ) => ({ suite: `${SUITE}, ${what}`, workload, method, unit, ...summary(samples.map(pick)) });
  /** Divides a figure by that of the bare framework in the same round. @param {"rate" | "processor"} figure @returns {(turn: Turn, round: number) => number} */
  const overBare = (figure) => (turn, round) =>
    turn[figure] / (bare[round]?.[figure] ?? Number.NaN);
  return [
    row("requests a second", "requests/s", ({ rate }) => rate),
    row("requests a second over bare", "×", overBare("rate")),
    row("processor time", "µs/request", ({ processor }) => processor),
    row("processor time over bare", "×", overBare("processor")),
    row("p50", "ms", ({ p50 }) => p50),
    row("p99", "ms", ({ p99 }) => p99),
    row("share of a processor", "×", ({ share }) => share),
  ];
}
