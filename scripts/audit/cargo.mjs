// What cargo says of crates: what they are, which are linked into one, and where their sources are.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

import { attempt, StepError } from "../lib/run.mjs";

/** @typedef {import("./shipped.mjs").Part} Part */
/** @typedef {{ name: string, version: string, license: string | null, source: string | null, manifest_path: string }} Crate */

/** Names of files that have the text of a licence, or what Apache-2.0 has passed on beside it. */
const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;

/**
 * Runs cargo. Returns what it prints.
 *
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
function cargo(args, env = {}) {
  const { status, output, errors } = attempt("cargo", args, { stdout: "pipe", env });
  if (status !== 0) throw new StepError(`cargo ${args.join(" ")}: ${errors}`);
  return output;
}

/** All crates that a lockfile has. @param {string} folder @returns {Crate[]} */
export function lockedCrates(folder) {
  const manifest = ["--manifest-path", `${folder}/Cargo.toml`];
  return JSON.parse(cargo(["metadata", "--format-version=1", "--locked", ...manifest])).packages;
}

/**
 * The crates that are linked into one, in the order of their names: those from a registry, and those beside it.
 *
 * @param {string[]} args what follows `--package`
 * @param {Record<string, string>} [env]
 * @returns {{ foreign: Part[], local: Part[] }}
 */
export function cargoTree(args, env) {
  const lines = cargo(
    [
      ...["tree", "--locked", "--edges=normal,no-proc-macro", "--prefix=none"],
      ...["--format={p}\t{l}", "--package", ...args],
    ],
    env,
  );
  const all = unique(
    lines
      .split("\n")
      .map((line) => /^(\S+) v(\S+)(?: \((\/[^)]+)\))?[^\t]*\t([^*]*?)(?: \(\*\))?$/.exec(line))
      .flatMap((match) => (match === null ? [] : [match.slice(1)]))
      .map(([name = "", version = "", folder, licence = ""]) => ({
        ...{ name, version, licence },
        ...(folder !== undefined && { folder }),
      })),
  );
  return {
    foreign: all.filter(({ folder }) => folder === undefined),
    local: all.filter(({ folder }) => folder !== undefined),
  };
}

/** In the order of their names, each once. @param {Part[]} parts */
export function unique(parts) {
  const byText = new Map(parts.map((part) => [`${part.name} ${part.version}`, part]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
}

/** @type {string | undefined} */
let registry;

/** Where the sources of a crate from the registry are: all lie in one folder. @param {Part} part */
export function sourcesOf({ name, version }) {
  const foreign = () => lockedCrates(".").find(({ source }) => source !== null);
  registry ??= dirname(dirname(foreign()?.manifest_path ?? ""));
  const folder = join(registry, `${name}-${version}`);
  if (!existsSync(folder)) throw new StepError(`the sources of ${name} ${version} are not there`);
  return folder;
}

/** The files of a folder that have licences. @param {string} folder */
export function licenceFiles(folder) {
  const names = readdirSync(folder).filter((name) => LICENCE_FILE.test(name));
  return names.sort().map((name) => join(folder, name));
}
