// First uses of packages, each in a process of its own: `run.mjs FOLDER PLAN ENGINES`, a folder for what is
// made, and the others as JSON. Prints its results as one JSON array.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { inRoot } from "../../../scripts/lib/paths.mjs";
import { summary } from "../../../scripts/lib/summary.mjs";
import { runOnce, takeTurns } from "../cache/turns.mjs";
import { duration, say } from "../restore/say.mjs";
import { writeInputs } from "./inputs.mjs";
import { bundleSubjects, moduleOf, SUBJECTS } from "./subjects.mjs";
import { timeFirstResponse, writeWorker } from "./workerd.mjs";

/** @typedef {import("../../../scripts/bench.mjs").Result} Result */
/** @typedef {import("./subjects.mjs").Subject} Subject */

/** Paths of programs. @typedef {{ nodes: Record<string, string>, workerd: string }} Engines */

/** What a first use took, in milliseconds. @typedef {{ total: number, import?: number }} Sample */

/** One combination of what is measured. @typedef {import("../cache/turns.mjs").Way<Sample> & { engine: string, form: string }} Way */

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
const begin = performance.now();
const timed = await takeTurns(ways, rounds, (round) => {
  const left = ((performance.now() - begin) / (round + 1)) * (rounds - round);
  if (round % 5 === 0) say(`round ${round} of ${rounds}, ${duration(left)} left`);
});
console.log(JSON.stringify(resultsOf(timed.map(({ samples }) => samples))));

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

/** @param {Sample[][]} samples of each way @returns {Result[]} */
function resultsOf(samples) {
  return ways.flatMap(({ name, engine, form }, index) => {
    const own = samples[index] ?? [];
    const row = (/** @type {string} */ what, /** @type {number[]} */ figures) => ({
      suite: `start-${engine}${what}`,
      workload: form,
      method: name,
      unit: "ms",
      ...summary(figures),
    });
    const total = row(
      "",
      own.map((sample) => sample.total),
    );
    if (engine !== "workerd") {
      return [
        total,
        row(
          ", import",
          own.map((sample) => sample.import ?? Number.NaN),
        ),
      ];
    }
    const base = ways.findIndex((way) => way.engine === engine && way.name === "nothing");
    const over = own.map(
      (sample, round) => sample.total - (samples[base]?.[round]?.total ?? Number.NaN),
    );
    return [total, row(", over nothing", over)];
  });
}
