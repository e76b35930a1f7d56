// Profiles an adapter: `profile.mjs FRAMEWORK [VARIANT [NODE]]` with a framework of the benchmark or `undici`. Prints
// the self time of functions in microseconds a request, longest first.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { node24 } from "../../../scripts/lib/paths.mjs";
import { inTemporaryFolder } from "../../harness/temporary.mjs";
import { writeInputs } from "./messages.mjs";
import { PLAN } from "./suite.mjs";
import { withTurns } from "./turns.mjs";

/** The number of functions that are printed. */
const MAX_FUNCTIONS = 30;

const [, , framework = "", variant = "headers", node = node24] = process.argv;
await inTemporaryFolder(async (folder) => {
  writeInputs(folder);
  const options = ["--cpu-prof", `--cpu-prof-dir=${folder}`];
  const bench = { plan: PLAN, node, folder, options };
  const { processor } = await withTurns(bench, (turn) => turn(framework, variant));
  console.log(`${framework}, ${variant}: ${processor.toFixed(1)} µs a request`);
  const [name = ""] = readdirSync(folder).filter((file) => file.endsWith(".cpuprofile"));
  print(JSON.parse(readFileSync(join(folder, name), "utf8")), processor);
});

/**
 * @param {import("node:inspector").Profiler.Profile} profile
 * @param {number} processor microseconds a request, of all functions
 */
function print({ nodes, samples = [], timeDeltas = [] }, processor) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  /** @type {Map<string, number>} */
  const selfTimes = new Map();
  let busy = 0;
  samples.forEach((id, index) => {
    const name = names.get(id) ?? "";
    if (name === "(idle)") return;
    const time = timeDeltas[index] ?? 0;
    busy += time;
    selfTimes.set(name, (selfTimes.get(name) ?? 0) + time);
  });
  const sorted = [...selfTimes].sort(([, a], [, b]) => b - a).slice(0, MAX_FUNCTIONS);
  for (const [name, time] of sorted) {
    console.log(`${((processor * time) / busy).toFixed(2).padStart(6)} µs  ${name}`);
  }
}

/** @param {import("node:inspector").Runtime.CallFrame} frame */
function nameOf({ functionName, url, lineNumber }) {
  if (url === "") return functionName;
  const file = url.replace(/^.*\/(?=node_modules\/|js\/edge\/)/, "");
  return `${functionName || "(anonymous)"} ${file}:${lineNumber + 1}`;
}
