// Profiles an adapter: `profile.mjs FRAMEWORK [VARIANT [NODE]]` with a framework of the benchmark or `undici`. Prints the self
// time of functions in microseconds a request, longest first.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { node24 } from "../../../scripts/lib/paths.mjs";
import { writeInputs } from "./inputs.mjs";
import { PLAN } from "./plan.mjs";
import { clientTurn, serverTurn, startLoad } from "./turns.mjs";

/** The number of functions that are printed. */
const MAX_FUNCTIONS = 30;

const [, , framework = "", variant = "headers", node = node24] = process.argv;
const folder = mkdtempSync(join(tmpdir(), "hedgerow-profile-"));
try {
  writeInputs(folder);
  const load = startLoad(PLAN, node, folder);
  await load.first;
  const bench = { plan: PLAN, node, folder, load };
  const options = ["--cpu-prof", `--cpu-prof-dir=${folder}`];
  const chosen = /** @type {import("./plan.mjs").Variant} */ (variant);
  const turn =
    framework === "undici"
      ? await clientTurn(bench, chosen, options)
      : await serverTurn(bench, framework, chosen, options);
  await load.end();
  console.log(`${framework}, ${variant}: ${turn.processor.toFixed(1)} µs a request`);
  const [name = ""] = readdirSync(folder).filter((file) => file.endsWith(".cpuprofile"));
  print(JSON.parse(readFileSync(join(folder, name), "utf8")), turn.processor);
} finally {
  rmSync(folder, { recursive: true });
}

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
