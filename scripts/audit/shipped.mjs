// What is in the packages that are published, or comes with them.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "../lib/paths.mjs";
import { cargoTree, licenceFiles, sourcesOf, unique } from "./cargo.mjs";
import { foreignPackages, lockedPackages } from "./lockfiles.mjs";
import { PUBLISHED } from "./packages.mjs";
import { standardLibrary } from "./standard-library.mjs";

/**
 * Something that others wrote. Of what is not a crate from the registry, `files` are those with its licences;
 * `holders` is whose it is, if these leave that open.
 *
 * @typedef {{ name: string, version: string, licence: string, folder?: string, files?: string[], holders?: string }} Part
 */
/** @typedef {{ what: string, parts: Part[] }} Shipment */

const TARGET = "wasm32-unknown-unknown";

/** The modules: in which package each is, of which crate, and what it has of the standard library. */
const MODULES = [
  { name: "edge", folder: "js/edge", crate: "hedgerow-edge-wasm", library: "alloc" },
  { name: "build", folder: "js/edge", crate: "hedgerow-edge-wasm", library: "alloc" },
  { name: "decode", folder: "js/snapshot", crate: "hedgerow-snapshot-wasm", library: "std" },
  { name: "encode", folder: "js/snapshot", crate: "hedgerow-snapshot-wasm", library: "std" },
];

/** What people get with the crates, on any system. */
const CRATES = ["hedgerow-headers", "hedgerow-paths", "hedgerow-snapshot"];

/** All shipments: modules, crates, and npm packages. @returns {Shipment[]} */
export function shipments() {
  return [
    ...MODULES.map((module) => ({
      what: `\`${module.name}.wasm\`, in the npm package \`${manifest(module.folder).name}\``,
      parts: partsOf(module),
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

/** What others wrote that is inside an npm package: that of its modules. @param {string} folder */
export function embeddedIn(folder) {
  return unique(MODULES.filter((module) => module.folder === folder).flatMap(partsOf));
}

/** @param {typeof MODULES[number]} module @returns {Part[]} */
function partsOf({ name, crate, library }) {
  const args = [crate, "--no-default-features", `--features=${name}`, "--target", TARGET];
  const crates = cargoTree(args).foreign;
  return [...crates, ...zstdOf(crates), ...standardLibrary(library, TARGET)];
}

/** The C code of zstd, which one of these crates has. @param {Part[]} crates @returns {Part[]} */
function zstdOf(crates) {
  return crates
    .filter(({ name }) => name === "zstd-sys")
    .map((crate) => ({
      ...{ name: "zstd (C)", version: crate.version.split("zstd.")[1] ?? "" },
      licence: "BSD-3-Clause OR GPL-2.0-only",
      files: licenceFiles(join(sourcesOf(crate), "zstd")),
    }));
}

/** What an npm package says of itself. @param {string} folder */
export const manifest = (folder) =>
  JSON.parse(readFileSync(inRoot(folder, "package.json"), "utf8"));

/** What npm installs with a package, as the lockfile has it. @param {string} folder @returns {Part[]} */
function dependenciesOf(folder) {
  const all = lockedPackages(".");
  const foreign = new Map(foreignPackages("."));
  const visited = new Set();
  /** @param {string} place */
  const visit = (place) => {
    if (visited.has(place)) return;
    visited.add(place);
    const { dependencies, optionalDependencies } = all[place] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = resolve(all, place, name);
      // An optional package for another system may not be in the lockfile.
      if (found !== undefined && foreign.has(found)) visit(found);
    }
  };
  visit(folder);
  const parts = [...visited].flatMap((place) => {
    const { version = "", license = "" } = foreign.get(place) ?? {};
    return version === ""
      ? []
      : [{ name: place.split("node_modules/").at(-1) ?? "", version, licence: license }];
  });
  return unique(parts);
}

/**
 * Where a package finds another: beside it, or in a folder above.
 *
 * @param {Record<string, unknown>} all
 * @param {string} place
 * @param {string} name
 */
function resolve(all, place, name) {
  for (let folder = place; ; folder = folder.slice(0, Math.max(folder.lastIndexOf("/"), 0))) {
    const candidate = `${folder}${folder === "" ? "" : "/"}node_modules/${name}`;
    if (candidate in all) return candidate;
    if (folder === "") return undefined;
  }
}
