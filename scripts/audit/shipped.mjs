// Third-party code in the published packages, or installed with them, as cargo and npm report it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { inRoot } from "../lib/paths.mjs";
import { output, StepError } from "../lib/run.mjs";
import { foreignPackages, lockedPackages, PUBLISHED } from "./lockfiles.mjs";

/**
 * A third-party component. `files` are its licence files and `holders` its copyright holders, where the sources
 * of a registry crate do not give them.
 *
 * @typedef {{ name: string, version: string, licence: string, folder?: string, files?: string[], holders?: string }} Part
 */
/** @typedef {{ what: string, parts: Part[] }} Shipment */

const TARGET = "wasm32-unknown-unknown";

/** The modules: the package that contains each, its crate, and the part of the standard library it links. */
const MODULES = [
  { name: "paths", folder: "js/edge", crate: "hedgerow-edge-wasm", library: "alloc" },
  { name: "block", folder: "js/edge", crate: "hedgerow-edge-wasm", library: "alloc" },
  { name: "build", folder: "js/edge", crate: "hedgerow-edge-wasm", library: "alloc" },
  { name: "decode", folder: "js/snapshot", crate: "hedgerow-snapshot-wasm", library: "std" },
  { name: "encode", folder: "js/snapshot", crate: "hedgerow-snapshot-wasm", library: "std" },
];

const CRATES = ["hedgerow-headers", "hedgerow-paths", "hedgerow-snapshot"];

/** Names of files with a licence text, or with the notice that Apache-2.0 requires to pass on. */
const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;

/** Returns the parts of all modules, crates and npm packages. @returns {Shipment[]} */
export function shipments() {
  return [
    ...[...new Set(MODULES.map(({ folder }) => folder))].map((folder) => ({
      what: `Inside the WebAssembly of the npm package \`${manifest(folder).name}\``,
      parts: embeddedIn(folder),
    })),
    ...CRATES.map((name) => ({
      what: `Built with the crate \`${name}\``,
      parts: cargoTree([name, "--all-features", "--target=all"]).foreign,
    })),
    ...PUBLISHED.map((folder) => ({
      what: `Installed with the npm package \`${manifest(folder).name}\``,
      parts: dependenciesOf(folder),
    })),
  ];
}

/** Returns the third-party code inside an npm package. @param {string} folder */
export function embeddedIn(folder) {
  return unique(MODULES.filter((module) => module.folder === folder).flatMap(partsOf));
}

/** The parts of each module, once known: several checks need them, and cargo takes a second. @type {Map<string, Part[]>} */
const known = new Map();

/** @param {typeof MODULES[number]} module */
function partsOf(module) {
  const parts = known.get(module.name) ?? findParts(module);
  known.set(module.name, parts);
  return parts;
}

/** @param {typeof MODULES[number]} module @returns {Part[]} */
function findParts({ name, crate, library }) {
  const args = [crate, "--no-default-features", `--features=${name}`, "--target", TARGET];
  const crates = cargoTree(args).foreign;
  return [...crates, ...crates.flatMap(zstdIn), ...standardLibrary(library)];
}

/** The C code of zstd that the crate contains. @param {Part} crate @returns {Part[]} */
function zstdIn(crate) {
  if (crate.name !== "zstd-sys") return [];
  const version = crate.version.split("zstd.")[1] ?? "";
  const files = licenceFiles(join(sourcesOf(crate), "zstd"));
  return [{ name: "zstd (C)", version, licence: "BSD-3-Clause OR GPL-2.0-only", files }];
}

/**
 * The part of Rust's standard library that a module links. It is built from source, with crates of its own.
 *
 * @param {string} crate
 * @returns {Part[]}
 */
function standardLibrary(crate) {
  const version = output("rustc", ["--version"]).split(" ")[1] ?? "";
  const sysroot = output("rustc", ["--print=sysroot"]).trim();
  const manifest = join(sysroot, "lib/rustlib/src/rust/library/Cargo.toml");
  const args = [crate, "--no-default-features", "--target", TARGET, "--manifest-path", manifest];
  // The manifests use features that only their own compiler accepts.
  const { local, foreign } = cargoTree(args, { RUSTC_BOOTSTRAP: "1" });
  const texts = join(sysroot, "share/doc/rust/licenses");
  return [
    {
      ...{ name: "Rust's standard library", version },
      // COPYRIGHT-library.html of the toolchain names the holders, and Unicode for the tables in `core`.
      licence: "(MIT OR Apache-2.0) AND Unicode-3.0",
      holders: "The Rust Project Developers (see https://thanks.rust-lang.org)",
      files: ["Apache-2.0.txt", "MIT.txt", "Unicode-3.0.txt"].map((name) => join(texts, name)),
    },
    ...local.filter(({ name }) => name === "compiler_builtins").map(builtins),
    ...foreign,
  ];
}

/** Adds the licences of `compiler_builtins`: one in the folder above it, one of its `libm`. @param {Part} part */
function builtins(part) {
  const above = join(part.folder ?? "", "..");
  return { ...part, files: [above, join(above, "libm")].flatMap(licenceFiles) };
}

/**
 * Returns the crates linked into one, sorted by name: third-party ones and local ones.
 *
 * @param {string[]} args what follows `--package`
 * @param {Record<string, string>} [env]
 */
function cargoTree(args, env = {}) {
  const tree = ["tree", "--locked", "--edges=normal,no-proc-macro", "--prefix=none"];
  const printed = output("cargo", [...tree, "--format={p}\t{l}", "--package", ...args], { env });
  const lines = printed.matchAll(
    /^(\S+) v(\S+)(?: \((\/[^)]+)\))?[^\t\n]*\t([^*\n]*?)(?: \(\*\))?$/gm,
  );
  const all = [...lines].map(([, name = "", version = "", folder, licence = ""]) => ({
    ...{ name, version, licence },
    ...(folder !== undefined && { folder }),
  }));
  const isForeign = (/** @type {Part} */ { folder }) => folder === undefined;
  return {
    foreign: unique(all.filter(isForeign)),
    local: unique(all.filter((part) => !isForeign(part))),
  };
}

/** Sorts parts by name and removes duplicates. @param {Part[]} parts */
function unique(parts) {
  const byText = new Map(parts.map((part) => [`${part.name} ${part.version}`, part]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
}

/** The folder with the sources of registry crates, once known. @type {string | undefined} */
let registry;

/** Returns the folder of a registry crate's sources. @param {Part} part */
export function sourcesOf({ name, version }) {
  registry ??= registryFolder();
  const folder = join(registry, `${name}-${version}`);
  if (!existsSync(folder)) throw new StepError(`the sources of ${name} ${version} are missing`);
  return folder;
}

function registryFolder() {
  const metadata = output("cargo", ["metadata", "--format-version=1", "--locked"]);
  /** @type {{ packages: { source: string | null, manifest_path: string }[] }} */
  const { packages } = JSON.parse(metadata);
  return join(packages.find(({ source }) => source !== null)?.manifest_path ?? "", "..", "..");
}

/** Returns the licence files in a folder. @param {string} folder */
export function licenceFiles(folder) {
  const names = readdirSync(folder).filter((name) => LICENCE_FILE.test(name));
  return names.sort().map((name) => join(folder, name));
}

/** Returns the manifest of an npm package. @param {string} folder */
export const manifest = (folder) =>
  JSON.parse(readFileSync(inRoot(folder, "package.json"), "utf8"));

/**
 * Returns the packages that npm installs with a package, from the lockfile.
 *
 * @param {string} folder
 * @returns {Part[]}
 */
function dependenciesOf(folder) {
  const all = lockedPackages(".");
  const foreign = new Map(foreignPackages("."));
  // Iteration includes elements that are added to the set meanwhile.
  const places = new Set([folder]);
  for (const place of places) {
    const { dependencies, optionalDependencies } = all[place] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = resolve(all, place, name);
      // The lockfile may lack an optional package for another system.
      if (found !== undefined && foreign.has(found)) places.add(found);
    }
  }
  places.delete(folder);
  return unique(
    [...places].map((place) => {
      const { version = "", license = "" } = foreign.get(place) ?? {};
      return { name: place.split("node_modules/").at(-1) ?? "", version, licence: license };
    }),
  );
}

/**
 * Returns the place where a package resolves a dependency: beside it or in a folder above.
 *
 * @param {Record<string, unknown>} all
 * @param {string} place
 * @param {string} name
 * @returns {string | undefined}
 */
function resolve(all, place, name) {
  const candidate = join(place, "node_modules", name);
  if (candidate in all || place === ".") return candidate in all ? candidate : undefined;
  return resolve(all, dirname(place), name);
}
