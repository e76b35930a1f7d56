// Adapters beside bare frameworks: `run.mjs FOLDER PLAN`, a folder for what is made, and the plan as JSON. Prints its
// results as one JSON array.
import { summary } from "../../../scripts/lib/summary.mjs";
import { roundTeller } from "../../harness/progress.mjs";
import { takeTurns } from "../../harness/turns.mjs";
import { FRAMEWORKS } from "./frameworks.mjs";
import { writeInputs } from "./inputs.mjs";
import { WAYS } from "./plan.mjs";
import { clientTurn, serverTurn, startLoad } from "./turns.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Measured} Measured */
/** @typedef {import("./plan.mjs").Way} Way */
/** @typedef {import("./turns.mjs").Turn} Turn */

const SUITE = `adapters-node${process.versions.node.split(".")[0]}`;

const [, , folder = "", json = ""] = process.argv;
/** @type {import("./plan.mjs").Plan} */
const plan = JSON.parse(json);
writeInputs(folder);
const load = startLoad(plan, process.execPath, folder);
await load.first;
const bench = { plan, node: process.execPath, folder, load };

/** @type {Record<string, (way: Way) => Promise<Turn>>} */
const workloads = Object.fromEntries(
  Object.keys(FRAMEWORKS).map((name) => [
    name,
    (/** @type {Way} */ way) => serverTurn(bench, name, way),
  ]),
);
workloads.undici = (way) => clientTurn(bench, way);

const ways = Object.entries(workloads).flatMap(([workload, turn]) =>
  WAYS.map((way) => ({ name: way, workload, time: () => turn(way) })),
);
const { rounds, warmUps } = plan;
const onRound = roundTeller("adapters", rounds);
const timed = await takeTurns(ways, rounds, { warmUps, onRound });
await load.end();
console.log(JSON.stringify(resultsOf(timed)));

/** @typedef {import("../../harness/turns.mjs").Timed<Turn>} Timed */

/** @param {Timed[]} timed each way */
function resultsOf(timed) {
  return timed.flatMap((one, index) => {
    const { workload = "" } = ways[index] ?? {};
    const bare = ways.findIndex((way) => way.workload === workload && way.name === "bare");
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
  /** Beside the bare framework in the same round. @param {"rate" | "processor"} figure @returns {(turn: Turn, round: number) => number} */
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
