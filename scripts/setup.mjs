// Installs what the project needs and the machine lacks. Quick if nothing is missing.
//
// Uses only Node's own modules: no package may be installed yet.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { installPrograms } from "./lib/debian.mjs";
import { inRoot, toolCache } from "./lib/paths.mjs";
import { attempt, capture, main, run, StepError, step } from "./lib/run.mjs";
import { together } from "./lib/together.mjs";
import { buildTools, isInstalled, toolRoot } from "./lib/tools.mjs";

/** Commands that a machine must have, and how to install them. */
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

/** The oldest Node for the development tools. */
const OLDEST_NODE = [20, 19];

/**
 * Installs what every script needs, in parallel with other installations: building tools is bound by the
 * processors, the rest by the network.
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

/** Installs the toolchain of `rust-toolchain.toml` with its components and target. */
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

/** File with the digest of the installed lockfile. */
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
  // Not `npm ci`: it refuses a lockfile without the packages for other platforms, which a registry may
  // withhold (npm issue 9342). This installs the locked versions and leaves the lockfile unchanged.
  run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]);
  writeFileSync(LOCK_STAMP, lockDigest());
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
 * Builds a tool from crates.io into the shared cache, atomically: several clones can install it at once.
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
      step(`${tool.crate}: the registry lacks locked versions; installing compatible ones instead`);
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
