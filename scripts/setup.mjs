// Installs what the project needs and the machine lacks. Quick where nothing is missing.
//
// Only Node's own modules are used: nothing else may be there yet.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { installPrograms } from "./lib/debian.mjs";
import { inRoot, toolCache } from "./lib/paths.mjs";
import { attempt, capture, main, run, StepError, step } from "./lib/run.mjs";
import { together } from "./lib/together.mjs";
import { buildTools, isInstalled, toolRoot } from "./lib/tools.mjs";

/** What a machine must have, and how it gets it. */
const PREREQUISITES = [
  {
    command: "rustup",
    args: ["--version"],
    name: "Rust",
    install: "install rustup, then run: rustup default stable",
  },
  {
    command: "cc",
    args: ["--version"],
    name: "a C compiler",
    install: "apt-get install build-essential",
  },
  { command: "git", args: ["--version"], name: "git", install: "apt-get install git" },
];

/** What the development tools run on; the packages themselves take any Node 20. */
const OLDEST_NODE = [20, 19];

/**
 * Installs what everything needs, and what else there is to install meanwhile: to build tools keeps the
 * processors busy, and the rest waits for the network.
 *
 * @param {import("./lib/together.mjs").Call[]} besides
 */
export function setup(besides = []) {
  checkPrerequisites();
  installPrograms("build");
  installToolchain();
  const own = [
    ...(buildTools().every(isInstalled) ? [] : ["installBuildTools"]),
    ...(arePackagesInstalled() ? [] : ["installPackages"]),
  ];
  together([
    ...own.map((name) => /** @type {import("./lib/together.mjs").Call} */ (["setup.mjs", name])),
    ...besides,
  ]);
}

function checkPrerequisites() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    const wanted = OLDEST_NODE.join(".");
    throw new StepError(
      `Node ${process.versions.node} is too old: install Node ${wanted} or newer`,
    );
  }
  for (const { command, args, name, install } of PREREQUISITES) {
    if (capture(command, args) === undefined) throw new StepError(`${name} is missing: ${install}`);
  }
}

/** Installs the toolchain that `rust-toolchain.toml` names, with its components and target. */
function installToolchain() {
  const file = readFileSync(inRoot("rust-toolchain.toml"), "utf8");
  const channel = /channel = "([^"]+)"/.exec(file)?.[1] ?? "";
  const wanted = [...file.matchAll(/(components|targets) = \[([^\]]*)\]/g)].map(
    ([, kind, list]) => ({
      kind: kind === "targets" ? "target" : "component",
      names: [...(list ?? "").matchAll(/"([^"]+)"/g)].map(([, name]) => name ?? ""),
    }),
  );
  const has = (/** @type {string} */ kind, /** @type {string} */ name) =>
    capture("rustup", [kind, "list", "--installed", "--toolchain", channel])
      ?.split("\n")
      .some((line) => line === name || line.startsWith(`${name}-`)) ?? false;
  const missing = wanted.flatMap(({ kind, names }) =>
    names.filter((name) => !has(kind, name)).map((name) => ({ kind, name })),
  );
  if (missing.length === 0) return;
  step(`Rust ${channel} with ${missing.map(({ name }) => name).join(", ")}`);
  run("rustup", [
    ...["toolchain", "install", channel, "--profile", "minimal", "--no-self-update"],
    ...wanted.flatMap(({ kind, names }) => names.flatMap((name) => [`--${kind}`, name])),
  ]);
}

/** What remembers the lockfile whose packages are installed. */
const LOCK_STAMP = inRoot("node_modules", ".hedgerow-lock");

function lockDigest() {
  return createHash("sha256")
    .update(readFileSync(inRoot("package-lock.json")))
    .digest("hex");
}

function arePackagesInstalled() {
  return existsSync(LOCK_STAMP) && readFileSync(LOCK_STAMP, "utf8") === lockDigest();
}

/** Installs the npm packages of the lockfile. */
export function installPackages() {
  step("npm packages");
  // Not `npm ci`: it refuses a lockfile that lacks packages for other platforms, which registries
  // may withhold (npm issue 9342). This installs the lockfile's versions, and does not touch it.
  run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]);
  writeFileSync(LOCK_STAMP, lockDigest());
}

export function installBuildTools() {
  for (const tool of buildTools()) installTool(tool);
}

/**
 * How tools are built: they are run a few times on small files, so that making them fast takes several times
 * as long as it saves.
 */
const QUICKLY = {
  CARGO_PROFILE_RELEASE_OPT_LEVEL: "0",
  CARGO_PROFILE_RELEASE_LTO: "off",
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "256",
  CARGO_PROFILE_RELEASE_DEBUG: "0",
};

/**
 * Builds a tool from crates.io into the shared cache. It appears there only when it is whole, so
 * that several clones may install it at once.
 *
 * @param {import("./lib/tools.mjs").Tool} tool
 */
export function installTool(tool) {
  if (isInstalled(tool)) return;
  step(`${tool.crate} ${tool.version}, built from crates.io (about a minute)`);
  mkdirSync(toolCache, { recursive: true });
  const target = toolRoot(tool);
  const partial = `${target}.partial-${process.pid}`;
  const install = ["install", "--quiet", tool.crate, "--version", tool.version, "--root", partial];
  try {
    const { status, errors } = attempt("cargo", [...install, "--locked"], { env: QUICKLY });
    if (errors.includes("failed to select a version")) {
      step(`${tool.crate}: its lockfile names what the registry lacks; taking what fits instead`);
      run("cargo", install, { env: QUICKLY });
    } else if (status !== 0) {
      throw new StepError(`cargo install ${tool.crate}: ${errors}`);
    }
    if (!isInstalled(tool)) {
      rmSync(target, { recursive: true, force: true });
      renameSync(partial, target);
    }
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(() => {
    setup();
    step("everything is installed");
  });
}
