// Measures the first use of packages, each in a process of its own.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { inRoot } from "../../../scripts/lib/paths.mjs";
import { resultsOf } from "../../harness/results.mjs";
import { roundLogger, runOnce, takeTurns } from "../../harness/turns.mjs";
import { bundleSubjects, moduleOf, SUBJECTS, writeInputs } from "./subjects.mjs";
import { timeFirstResponse, writeWorker } from "./workerd.mjs";

/** @import { Timed, TimedMethod } from "../../harness/turns.mjs" */
/** @typedef {import("./subjects.mjs").Subject} Subject */

/** The time of a first use, in milliseconds. @typedef {{ total: number, import?: number }} Sample */

/** A subject in an engine, in one form. @typedef {TimedMethod<Sample> & { engine: string, form: string }} Case */

const FIRST_USE = fileURLToPath(new URL("first-use.mjs", import.meta.url));

/** @param {import("./suite.mjs").Parameters} parameters */
export async function measure({ rounds, nodes, workerd, folder }) {
  writeInputs(folder);
  const cases = [...(await inNode(nodes, folder)), ...(await inWorkerd(workerd, folder))];
  // Sorted by subject, so that a process always follows one of the same engine: after another program, less of its own
  // code and data is in the processor’s caches.
  const placeOf = (/** @type {Case} */ one) => SUBJECTS.findIndex(({ name }) => name === one.name);
  cases.sort((a, b) => placeOf(a) - placeOf(b));
  const timed = await takeTurns(cases, rounds, { onRound: roundLogger("first uses", rounds, 5) });
  const base = cases.findIndex(({ engine, name }) => engine === "workerd" && name === "nothing");
  return cases.flatMap((one, index) =>
    rowsOf(one, /** @type {Timed<Sample>} */ (timed[index]), timed[base]?.samples ?? []),
  );
}

/** @param {Record<string, string>} nodes @param {string} folder @returns {Promise<Case[]>} */
async function inNode(nodes, folder) {
  const bundles = join(folder, "bundles");
  await bundleSubjects(bundles);
  const before = writeEmptyPackage(folder);
  /** @type {Record<string, (subject: Subject, input: string) => string[]>} */
  const forms = {
    "as installed": (subject, input) => [inRoot(moduleOf(subject)), input],
    "as installed, after another": (subject, input) => [inRoot(moduleOf(subject)), input, before],
    bundled: (subject, input) => [join(bundles, `${subject.module}.mjs`), input],
  };
  return Object.entries(nodes).flatMap(([engine, node]) =>
    Object.entries(forms).flatMap(([form, argsOf]) =>
      SUBJECTS.map((subject) => ({
        name: subject.name,
        engine,
        form,
        time() {
          const args = argsOf(subject, join(folder, subject.input));
          const took = JSON.parse(runOnce(node, FIRST_USE, ...args));
          return { total: took.import + took.use, import: took.import };
        },
      })),
    ),
  );
}

/** Writes an empty package and a module that imports it. Returns the path of the module. @param {string} folder */
function writeEmptyPackage(folder) {
  const empty = join(folder, "node_modules", "empty");
  mkdirSync(empty, { recursive: true });
  const manifest = { name: "empty", type: "module", exports: "./index.js" };
  writeFileSync(join(empty, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(empty, "index.js"), "");
  const before = join(folder, "before.mjs");
  writeFileSync(before, 'import "empty";\n');
  return before;
}

/** @param {string} workerd @param {string} folder @returns {Promise<Case[]>} */
async function inWorkerd(workerd, folder) {
  const workers = join(folder, "workers");
  mkdirSync(workers);
  const supported = SUBJECTS.filter((subject) => subject.inWorkerd);
  return Promise.all(
    supported.map(async (subject, index) => {
      const input = join(folder, subject.input);
      const config = await writeWorker(subject, input, join(workers, `${index}`));
      return {
        name: subject.name,
        engine: "workerd",
        form: "process",
        time: async () => ({ total: await timeFirstResponse(workerd, config) }),
      };
    }),
  );
}

/** @param {Case} one @param {Timed<Sample>} timed @param {Sample[]} nothing in workerd */
function rowsOf({ engine, form: workload }, timed, nothing) {
  const rows = (
    /** @type {string} */ what,
    /** @type {(sample: Sample, round: number) => number | undefined} */ figure,
  ) => {
    const about = { suite: `start-${engine}${what}`, workload, unit: "ms" };
    return resultsOf(about, [timed], (sample, round) => figure(sample, round) ?? Number.NaN);
  };
  const totals = rows("", ({ total }) => total);
  if (timed.why !== undefined) return totals;
  if (engine !== "workerd") return [...totals, ...rows(", import", (sample) => sample.import)];
  const overNothing = (/** @type {Sample} */ { total }, /** @type {number} */ round) =>
    total - (nothing[round]?.total ?? Number.NaN);
  return [...totals, ...rows(", over nothing", overNothing)];
}
