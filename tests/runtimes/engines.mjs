// The engines on which cases run, and how each of them runs a program.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { inEngines } from "../../scripts/lib/paths.mjs";
import { capture } from "../../scripts/lib/run.mjs";
import { runInChromium, startChromium } from "./chromium/run.mjs";
import { runInEdgeLight } from "./edge-light/run.mjs";
import { processes } from "./process/run.mjs";
import { runInWorkerd } from "./workerd/run.mjs";

/** @typedef {import("./bundle.mjs").Program} Program */
/** @typedef {import("./bundle.mjs").Outcome} Outcome */

/**
 * A started engine.
 *
 * @typedef {object} Running
 * @property {string} version
 * @property {(program: Program) => Promise<Outcome[]>} run
 * @property {() => Promise<void>} [close]
 */

/**
 * An engine.
 *
 * @typedef {object} Engine
 * @property {string} name
 * @property {string} [pinned] the required version; that of Chromium is Debian's
 * @property {string} wasm where its WebAssembly comes from
 * @property {import("./process/run.mjs").Command} [command] the command that runs a file, if the engine has one
 * @property {() => Promise<Running>} start
 */

/** Returns the path of a module of the package. @param {string} name */
const moduleOf = (name) => createRequire(import.meta.url).resolve(`hedgerow/${name}.wasm`);

/** A compatibility date before the changes of 2025-06-01. */
const EARLIER_DATE = "2025-05-01";

const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

/** Returns the version of a package that this suite pins. @param {string} name @returns {string} */
const pinned = (name) => dependencies[name].replace(/^npm:.*@/, "");

/** Returns the installed version of a package. @param {string} name @returns {string} */
const installed = (name) =>
  JSON.parse(readFileSync(inEngines(name, "package.json"), "utf8")).version;

const runProcess = processes();

/**
 * Returns Node, Deno or Bun, from a package of this suite.
 *
 * @param {string} name
 * @param {string} packageName
 * @param {string} binary
 * @param {string[]} args
 * @returns {Engine}
 */
function processOf(name, packageName, binary, ...args) {
  const file = inEngines(binary);
  return {
    name,
    pinned: pinned(packageName),
    wasm: "bytes in JavaScript",
    command: [file, ...args],
    async start() {
      const [version = ""] = /\d+\.\d+\.\d+/.exec(capture(file, ["--version"]) ?? "") ?? [];
      return { version, run: (program) => runProcess([file, ...args], program) };
    },
  };
}

/**
 * Returns workerd with a compatibility date.
 *
 * @param {string} date
 * @returns {Engine}
 */
const workerdOn = (date) => ({
  name: `workerd, compatibility date ${date}`,
  pinned: pinned("workerd"),
  wasm: "a module of the worker",
  start: async () => ({
    version: installed("workerd"),
    run: (program) => runInWorkerd(inEngines(".bin", "workerd"), date, program),
  }),
});

/** Returns the newest compatibility date that a version of workerd supports. @param {string} version */
const dateOf = (version) => version.replace(/^1\.(\d{4})(\d{2})(\d{2})\..*$/, "$1-$2-$3");

/** @type {Engine[]} */
export const engines = [
  processOf("Node 20", "node20", "node20/bin/node"),
  processOf("Node 22", "node22", "node22/bin/node"),
  processOf("Node 24", "node24", "node24/bin/node"),
  processOf("Node 26", "node26", "node26/bin/node"),
  processOf("Deno", "deno", ".bin/deno", "run", "--allow-read", "--allow-env", "--no-lock"),
  processOf("Bun", "bun", ".bin/bun", "--no-install"),
  workerdOn(dateOf(pinned("workerd"))),
  workerdOn(EARLIER_DATE),
  {
    name: "edge-light, `@edge-runtime/vm`",
    pinned: pinned("@edge-runtime/vm"),
    wasm: "a module of the host, `.wasm?module`",
    start: async () => ({
      version: installed("@edge-runtime/vm"),
      run: (program) => runInEdgeLight(program, ["paths", "block", "build"].map(moduleOf)),
    }),
  },
  {
    name: "Chromium, headless",
    wasm: "bytes in JavaScript, bundled",
    async start() {
      const { context, version, close } = await startChromium();
      return {
        version,
        run: (program) => runInChromium(context, program, moduleOf),
        close,
      };
    },
  },
];
