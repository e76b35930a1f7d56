// Measures the first use of packages, each in a process of its own: `run.mjs FOLDER ROUNDS ENGINES` with a folder for
// temporary files and the engines as JSON. Prints its results as a JSON array.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { inRoot } from "../../../scripts/lib/paths.mjs";
import { summary } from "../../../scripts/lib/summary.mjs";
import { roundLogger } from "../../harness/progress.mjs";
import { runOnce, takeTurns } from "../../harness/turns.mjs";
import { writeInputs } from "./inputs.mjs";
import { bundleSubjects, moduleOf, SUBJECTS } from "./subjects.mjs";
import { timeFirstResponse, writeWorker } from "./workerd.mjs";

/** @typedef {import("../../harness/results.mjs").Measured} Measured */
/** @typedef {import("./subjects.mjs").Subject} Subject */

/** Paths of programs. @typedef {{ nodes: Record<string, string>, workerd: string }} Engines */

/** The time of a first use, in milliseconds. @typedef {{ total: number, import?: number }} Sample */

/** A subject in an engine, in one form. @typedef {import("../../harness/turns.mjs").TimedMethod<Sample> & { engine: string, form: string }} Case */

const FIRST_USE = fileURLToPath(new URL("first-use.mjs", import.meta.url));
const [, , folder = "", rounds = "", engines = ""] = process.argv;
/** @type {Engines} */
const { nodes, workerd } = JSON.parse(engines);
writeInputs(folder);
const inputOf = (/** @type {Subject} */ { input }) => join(folder, input);

// Sorted by subject, so that a process always follows one of the same engine: after another program, less of its own
// code and data is in the processor’s caches.
const placeOf = (/** @type {Case} */ one) => SUBJECTS.findIndex(({ name }) => name === one.name);
const cases = [...(await inNode()), ...(await inWorkerd())].sort((a, b) => placeOf(a) - placeOf(b));
const onRound = roundLogger("first uses", Number(rounds), 5);
const timed = await takeTurns(cases, Number(rounds), { onRound });
console.log(JSON.stringify(resultsOf(timed)));

/** @returns {Promise<Case[]>} */
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

/** Writes an empty package and a module that imports it. Returns the path of the module. */
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

/** @returns {Promise<Case[]>} */
async function inWorkerd() {
  const workers = join(folder, "workers");
  mkdirSync(workers);
  const supported = SUBJECTS.filter((subject) => subject.inWorkerd);
  return Promise.all(
    supported.map(async (subject, index) => {
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

/** @param {Timed[]} timed in the order of `cases` */
function resultsOf(timed) {
  const base = cases.findIndex(({ engine, name }) => engine === "workerd" && name === "nothing");
  return timed.flatMap((one, index) =>
    rowsOf(/** @type {Case} */ (cases[index]), one, timed[base]),
  );
}

/** @param {Case} one @param {Timed} timed @param {Timed | undefined} nothing in workerd @returns {Measured[]} */
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
