// The machine and the versions of a record.
import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

import { inRoot, node24 } from "../../scripts/lib/paths.mjs";
import { capture } from "../../scripts/lib/run.mjs";

/** Engines pinned by `tests/runtimes`. */
const ENGINES = ["node20", "node22", "node24", "node26", "workerd"];

/** Frameworks, the load generator and rivals. */
const PACKAGES = [
  ...["@hono/node-server", "autocannon", "bloom-filters", "es-module-lexer", "express", "fastify"],
  ...["hono", "lru-cache", "undici", "xxhash-wasm", "xxhashjs"],
];

/** Returns the processor, its cores, the memory, and the system with its kernel. */
export function machine() {
  const all = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB of memory`;
  const [kernel] = /^\d+\.\d+/.exec(release()) ?? [];
  const system = `${process.platform} ${process.arch} ${kernel}`;
  return `${all[0]?.model.trim()}, ${all.length} cores, ${memory}, ${system}`;
}

export function versions() {
  return {
    rustc: capture("rustc", ["--version"])?.trim(),
    node: process.version,
    node24: capture(node24, ["--version"])?.trim(),
    workerd: capture("workerd", ["--version"])?.trim(),
    engines: pinned(["tests", "runtimes"], ENGINES),
    packages: pinned([], PACKAGES),
    crates: locked(),
    clang: capture("clang", ["--version"])?.split("\n")[0],
    zstd: capture("zstd", ["--version"])?.trim(),
    curl: capture("curl", ["--version"])?.split("\n")[0],
    aria2c: capture("aria2c", ["--version"])?.split("\n")[0],
    "qemu-img": capture("qemu-img", ["--version"])?.split("\n")[0],
    fio: capture("fio", ["--version"])?.trim(),
    nbdcopy: capture("nbdcopy", ["--version"])?.trim(),
    nbdkit: capture("nbdkit", ["--version"])?.trim(),
    desync: /folbricht\/desync (\S+)/.exec(
      readFileSync(inRoot("tests", "tools", "go.mod"), "utf8"),
    )?.[1],
  };
}

/** Returns the versions that a `package.json` pins. @param {string[]} folder @param {string[]} names */
function pinned(folder, names) {
  const file = readFileSync(inRoot(...folder, "package.json"), "utf8");
  const { dependencies, devDependencies } = JSON.parse(file);
  const all = { ...dependencies, ...devDependencies };
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

/** Returns the locked versions of the crates that the native benchmarks depend on. */
function locked() {
  const lock = readFileSync(inRoot("Cargo.lock"), "utf8");
  const manifest = readFileSync(inRoot("bench", "native", "Cargo.toml"), "utf8");
  const wanted = [...manifest.matchAll(/^([\w-]+) = .*?"(\d[\d.]*)"/gm)];
  return Object.fromEntries(
    wanted.map(([, name, version = ""]) => {
      const own = `name = "${name}"\nversion = "(${version.replaceAll(".", "\\.")}[^"]*)"`;
      return [name, new RegExp(own).exec(lock)?.[1]];
    }),
  );
}
