// First uses of packages, each in a process of its own: `run.mjs FOLDER PLAN ENGINES`, a folder for what is
// made, and the others as JSON. Prints its results as one JSON array.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { inRoot } from "../../../scripts/lib/paths.mjs";
import { summary } from "../../../scripts/lib/summary.mjs";
import { roundTeller } from "../../harness/progress.mjs";
import { runOnce, takeTurns } from "../../harness/turns.mjs";
import { writeInputs } from "./inputs.mjs";
import { bundleSubjects, moduleOf, SUBJECTS } from "./subjects.mjs";
import { timeFirstResponse, writeWorker } from "./workerd.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Measured} Measured */
/** @typedef {import("./subjects.mjs").Subject} Subject */

/** Paths of programs. @typedef {{ nodes: Record<string, string>, workerd: string }} Engines */

/** What a first use took, in milliseconds. @typedef {{ total: number, import?: number }} Sample */

/** One combination of what is measured. @typedef {import("../../harness/turns.mjs").Way<Sample> & { engine: string, form: string }} Way */

const FIRST_USE = fileURLToPath(new URL("first-use.mjs", import.meta.url));
const [, , folder = "", plan = "", engines = ""] = process.argv;
/** @type {import("./plan.mjs").Plan} */
const { rounds } = JSON.parse(plan);
/** @type {Engines} */
const { nodes, workerd } = JSON.parse(engines);
writeInputs(folder);
const inputOf = (/** @type {Subject} */ { input }) => join(folder, input);

// By subjects, so that each subject of an engine comes after the same engine: what comes after another
// program finds less of its own in the caches of the processors.
const placeOf = (/** @type {Way} */ way) => SUBJECTS.findIndex(({ name }) => name === way.name);
const ways = [...(await inNode()), ...(await inWorkerd())].sort((a, b) => placeOf(a) - placeOf(b));
const onRound = roundTeller("first uses", rounds, 5);
const timed = await takeTurns(ways, rounds, { onRound });
console.log(JSON.stringify(resultsOf(timed)));

/** @returns {Promise<Way[]>} */
async function inNode() {
  const bundles = join(folder, "bundles");
  await bundleSubjects(bundles);
  const installed = (/** @type {Subject} */ subject) => inRoot(moduleOf(subject));
  const before = writeEmptyPackage();
  /** @type {Record<string, (subject: Subject) => string[]>} */
  const forms = {
    "as installed": (subject) => [installed(subject), inputOf(subject)],
    "as installed, after another": (subject) => [installed(subject), inputOf(subject), before],
    bundled: (subject) => [join(bundles, `${subject.module}.mjs`), inputOf(subject)],
  };
  return Object.entries(nodes).flatMap(([engine, node]) =>
    Object.entries(forms).flatMap(([form, argsOf]) =>
      SUBJECTS.map((subject) => ({
        name: subject.name,
        engine,
        form,
        time() {
          const printed = runOnce(node, FIRST_USE, ...argsOf(subject));
          const took = JSON.parse(printed);
          return { total: took.import + took.use, import: took.import };
        },
      })),
    ),
  );
}

/** Writes a package that holds nothing, and a module that imports it, whose path it returns. */
function writeEmptyPackage() {
  const empty = join(folder, "node_modules", "empty");
  mkdirSync(empty, { recursive: true });
  const manifest = { name: "empty", type: "module", exports: "./index.js" };
  writeFileSync(join(empty, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(empty, "index.js"), "");
  const before = join(folder, "before.mjs");
  writeFileSync(before, 'import "empty";\n');
  return before;
}

/** @returns {Promise<Way[]>} */
async function inWorkerd() {
  const workers = join(folder, "workers");
  mkdirSync(workers);
  const able = SUBJECTS.filter((subject) => subject.inWorkerd);
  return Promise.all(
    able.map(async (subject, index) => {
      const config = await writeWorker(subject, inputOf(subject), join(workers, `${index}`));
      return {
        name: subject.name,
        engine: "workerd",
        form: "process",
        time: async () => ({ total: await timeFirstResponse(workerd, config) }),
      };
    }),
  );
}

/** @typedef {import("../../harness/turns.mjs").Timed<Sample>} Timed */

/** @param {Timed[]} timed each way */
function resultsOf(timed) {
  const base = ways.findIndex(({ engine, name }) => engine === "workerd" && name === "nothing");
  return timed.flatMap((one, index) => rowsOf(/** @type {Way} */ (ways[index]), one, timed[base]));
}

/** @param {Way} way @param {Timed} timed @param {Timed | undefined} nothing in workerd @returns {Measured[]} */
function rowsOf({ name: method, engine, form: workload }, { samples, why }, nothing) {
  const suite = `start-${engine}`;
  if (why !== undefined) return [{ suite, workload, method, why }];
  const row = (/** @type {string} */ what, /** @type {number[]} */ figures) => ({
    suite: suite + what,
    workload,
    method,
    unit: "ms",
    ...summary(figures),
  });
  const totals = samples.map(({ total }) => total);
  if (engine === "workerd") {
    const over = totals.map(
      (total, round) => total - (nothing?.samples[round]?.total ?? Number.NaN),
    );
    return [row("", totals), row(", over nothing", over)];
  }
  const imports = samples.map((sample) => sample.import ?? Number.NaN);
  return [row("", totals), row(", import", imports)];
}
