// The regression guard: `npm run guard -- [--accept | --seed-slow-down]`.
//
// Times say little on machines that others use, too. So this counts: the instructions of the hot native
// paths, and the bytes of the WebAssembly modules. What differs from the record fails; what is better
// fails as well, or the next loss would hide behind it.
import { readFileSync, writeFileSync } from "node:fs";

import { build } from "./build.mjs";
import { accepted, differences, explain } from "./guard/compare.mjs";
import { countInstructions } from "./guard/instructions.mjs";
import { machine } from "./guard/machine.mjs";
import { moduleSizes } from "./guard/modules.mjs";
import { installPrograms } from "./lib/debian.mjs";
import { inRoot } from "./lib/paths.mjs";
import { main, run, StepError, step } from "./lib/run.mjs";
import { printTable } from "./lib/table.mjs";
import { setup } from "./setup.mjs";

/** @typedef {import("./guard/compare.mjs").Figures} Figures */
/** @typedef {{ machine: Record<string, string>, figures: Figures }} GuardRecord */

const RECORD = inRoot("bench", "guard", "record.json");

/** The program that does the work. */
const PROGRAM = inRoot("target", "release", "hedgerow-guard");

const OPTIONS = ["--accept", "--seed-slow-down"];

await main(() => {
  const [option, ...rest] = process.argv.slice(2);
  if (rest.length > 0 || (option !== undefined && !OPTIONS.includes(option))) {
    throw new StepError(
      `expected ${OPTIONS.join(" or ")}, found ${process.argv.slice(2).join(" ")}`,
    );
  }
  setup();
  installPrograms("guard");
  build();
  step("the hot native paths, built");
  run("cargo", ["build", "--quiet", "--release", "--package", "hedgerow-guard"]);
  if (option === "--accept") accept();
  else check(option === "--seed-slow-down");
});

/**
 * Compares with the record, and then proves that a loss would have been found.
 *
 * @param {boolean} slowed whether every path is made to do more
 */
function check(slowed) {
  const { figures, machine } = measured(slowed);
  const record = readRecord();
  const found = differences(record.figures, figures);
  if (found.length > 0) throw new StepError(explain(found, record.machine, machine));
  printTable(Object.entries(figures));
  step("the same, slowed: every path has to be found");
  proveThatItCanFail(figures);
  step("the guard holds");
}

/** Counts all paths once more, each slowed. @param {Figures} figures those of now */
function proveThatItCanFail(figures) {
  const { counts } = countInstructions(PROGRAM, ["--slow"]);
  const found = differences(figures, { ...figures, ...counts });
  const worse = new Set(found.filter(({ verdict }) => verdict === "worse").map(({ name }) => name));
  const missed = Object.keys(counts).filter((name) => !worse.has(name));
  if (missed.length > 0) throw new StepError(`slowed, and not found to be: ${missed.join("; ")}`);
}

/** Makes what there is now the record. */
function accept() {
  const { figures, machine } = measured(false);
  const record = { machine, figures: accepted(readRecord().figures, figures) };
  writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`);
  step("accepted: bench/guard/record.json");
}

/** @param {boolean} slowed */
function measured(slowed) {
  step("counting instructions");
  const { counts, processor } = countInstructions(PROGRAM, slowed ? ["--slow"] : []);
  return { figures: { ...counts, ...moduleSizes() }, machine: machine(processor) };
}

/** @returns {GuardRecord} */
function readRecord() {
  return JSON.parse(readFileSync(RECORD, "utf8"));
}
