// Installs what the project needs and the machine lacks. Quick if nothing is missing.
//
// Uses only Node's own modules: no package may be installed yet.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { makeWhole } from "./lib/cache.mjs";
import { installPrograms } from "./lib/debian.mjs";
import { inRoot } from "./lib/paths.mjs";
import { attempt, capture, main, run, runTogether, StepError, step } from "./lib/run.mjs";
import { whenChanged } from "./lib/stamp.mjs";
import { buildTools, isInstalled, toolRoot } from "./lib/tools.mjs";

/** Commands that a machine must have, what each is, and how to install it. */
const PREREQUISITES = [
  ["rustup", "Rust", "install rustup, then run: rustup default stable"],
  ["cc", "a C compiler", "apt-get install build-essential"],
  ["git", "git", "apt-get install git"],
];

/** The oldest Node for the development tools. */
const OLDEST_NODE = [20, 19];

/** Installs what every script needs. */
export async function setup() {
  checkPrerequisites();
  installPrograms("build");
  installToolchain();
  await callTogether([
    ["setup.mjs", "installBuildTools"],
    ["setup.mjs", "installPackages"],
  ]);
}

/**
 * Installs what every script needs, then builds and calls installers at the same time: building is bound by the
 * processors, and installers by the network.
 *
 * @param {Call[]} installers
 */
export async function setUpAndBuild(installers) {
  await setup();
  await callTogether([["build.mjs", "build"], ...installers]);
}

/** A function without arguments in a module of `scripts`. @typedef {[module: string, name: string]} Call */

/** Calls functions at the same time, each in its own process. @param {Call[]} calls */
async function callTogether(calls) {
  const programs = calls.map(
    ([module, name]) => `
      const { main } = await import("./scripts/lib/run.mjs");
      const { ${name} } = await import("./scripts/${module}");
      await main(${name});`,
  );
  await runTogether(
    programs.map((program) => [process.execPath, ["--input-type=module", "--eval", program]]),
  );
}

function checkPrerequisites() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    const oldest = OLDEST_NODE.join(".");
    throw new StepError(
      `Node ${process.versions.node} is too old: install Node ${oldest} or newer`,
    );
  }
  for (const [command = "", name, install] of PREREQUISITES) {
    if (capture(command, ["--version"]) === undefined)
      throw new StepError(`${name} is missing: ${install}`);
  }
}

/** Installs the toolchain of `rust-toolchain.toml` with its components and target. */
function installToolchain() {
  const file = readFileSync(inRoot("rust-toolchain.toml"), "utf8");
  const channel = /channel = "([^"]+)"/.exec(file)?.[1] ?? "";
  const wanted = ["component", "target"].flatMap((kind) => {
    const list = new RegExp(`${kind}s = \\[([^\\]]*)\\]`).exec(file)?.[1] ?? "";
    return [...list.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => ({ kind, name }));
  });
  const isMissing = (/** @type {{ kind: string, name: string }} */ { kind, name }) => {
    const installed = capture("rustup", [kind, "list", "--installed", "--toolchain", channel]);
    return !installed?.split("\n").some((line) => line === name || line.startsWith(`${name}-`));
  };
  const missing = wanted.filter(isMissing);
  if (missing.length === 0) return;
  step(`Rust ${channel} with ${missing.map(({ name }) => name).join(", ")}`);
  run("rustup", [
    ...["toolchain", "install", channel, "--profile", "minimal", "--no-self-update"],
    ...wanted.flatMap(({ kind, name }) => [`--${kind}`, name]),
  ]);
}

/** Installs the npm packages of the lockfile. */
export function installPackages() {
  whenChanged("node_modules", ["package-lock.json"], () => {
    step("npm packages");
    // Not `npm ci`: it refuses a lockfile without the packages for other platforms, which a registry may
    // withhold (npm issue 9342). This installs the locked versions and leaves the lockfile unchanged.
    run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]);
  });
}

export function installBuildTools() {
  for (const tool of buildTools()) installTool(tool);
}

/**
 * Profile for building tools. They run a few times on small files, so optimising them would cost more time
 * than it saves.
 */
const QUICKLY = {
  CARGO_PROFILE_RELEASE_OPT_LEVEL: "0",
  CARGO_PROFILE_RELEASE_LTO: "off",
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "256",
  CARGO_PROFILE_RELEASE_DEBUG: "0",
};

/**
 * Builds a tool from crates.io into the shared cache.
 *
 * @param {import("./lib/tools.mjs").Tool} tool
 */
export function installTool(tool) {
  if (isInstalled(tool)) return;
  const { crate, version } = tool;
  step(`${crate} ${version}, built from crates.io (about a minute)`);
  makeWhole(toolRoot(tool), (partial) => {
    const install = ["install", "--quiet", crate, "--version", version, "--root", partial];
    const { status, errors } = attempt("cargo", [...install, "--locked"], { env: QUICKLY });
    if (errors.includes("failed to select a version")) {
      step(`${crate}: the registry lacks locked versions; installing compatible ones instead`);
      run("cargo", install, { env: QUICKLY });
    } else if (status !== 0) {
      throw new StepError(`cargo install ${crate}: ${errors}`);
    }
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    await setup();
    step("everything is installed");
  });
}
