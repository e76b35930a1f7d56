// Adapters beside bare frameworks: `run.mjs FOLDER PLAN`, a folder for what is made, and the plan as JSON. Prints its
// results as one JSON array.
import { summary } from "../../../scripts/lib/summary.mjs";
import { takeTurns } from "../cache/turns.mjs";
import { duration, say } from "../restore/say.mjs";
import { FRAMEWORKS } from "./frameworks.mjs";
import { writeInputs } from "./inputs.mjs";
import { WAYS } from "./plan.mjs";
import { clientTurn, serverTurn, startLoad } from "./turns.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Result} Result */
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
const begin = performance.now();
const timed = await takeTurns(ways, plan.rounds, (round) => {
  const left = ((performance.now() - begin) / (round + 1)) * (plan.rounds - round);
  say(`round ${round} of ${plan.rounds}, ${duration(left)} left`);
});
await load.end();
console.log(JSON.stringify(resultsOf(timed.map(({ samples }) => samples))));

/** @param {Turn[][]} turns of each way @returns {Result[]} */
function resultsOf(turns) {
  return ways.flatMap(({ name: method, workload }, index) => {
    const own = turns[index] ?? [];
    const base =
      turns[ways.findIndex((way) => way.workload === workload && way.name === "bare")] ?? [];
    const row = (
      /** @type {string} */ what,
      /** @type {string} */ unit,
      /** @type {number[]} */ figures,
    ) => ({
      suite: `${SUITE}, ${what}`,
      workload,
      method,
      unit,
      ...summary(figures),
    });
    /** Beside the bare framework in the same round. @param {"rate" | "processor"} figure */
    const ratios = (figure) =>
      own.map((turn, round) => turn[figure] / (base[round]?.[figure] ?? Number.NaN));
    return [
      row(
        "requests a second",
        "requests/s",
        own.map(({ rate }) => rate),
      ),
      row("requests a second over bare", "×", ratios("rate")),
      row(
        "processor time",
        "µs/request",
        own.map(({ processor }) => processor),
      ),
      row("processor time over bare", "×", ratios("processor")),
      row(
        "p50",
        "ms",
        own.map(({ p50 }) => p50),
      ),
      row(
        "p99",
        "ms",
        own.map(({ p99 }) => p99),
      ),
      row(
        "share of a processor",
        "×",
        own.map(({ share }) => share),
      ),
    ];
  });
}
