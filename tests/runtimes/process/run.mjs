// Node, Deno and Bun: a program is a file, which finds the package in `node_modules` itself.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { bundle, PATIENCE, SUITE } from "../bundle.mjs";

/** What is run, and with what before the name of the file. @typedef {[file: string, ...args: string[]]} Command */

/** Where programs are put: from here, the packages of the suite are found. */
const PROGRAMS = join(SUITE, "node_modules", ".programs");

/**
 * Runs a file to its end, and returns what it says.
 *
 * @param {Command} command
 * @param {string} file
 * @returns {Promise<unknown>}
 */
export async function runFile([command, ...args], file) {
  // Deno keeps what it compiles, and asks whether there is a newer Deno.
  const env = { ...process.env, DENO_DIR: join(PROGRAMS, "deno"), DENO_NO_UPDATE_CHECK: "1" };
  const options = { cwd: SUITE, env, timeout: PATIENCE, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(command, [...args, file], options);
  return JSON.parse(stdout);
}

/**
 * Writes programs for all engines of this kind, and returns how one of them runs a program.
 */
export function processes() {
  /** @type {Map<import("../bundle.mjs").Program, Promise<string>>} */
  const written = new Map();
  return async (
    /** @type {Command} */ command,
    /** @type {import("../bundle.mjs").Program} */ program,
  ) => {
    const file = written.get(program) ?? writeProgram(program);
    written.set(program, file);
    return /** @type {import("../bundle.mjs").Outcome[]} */ (await runFile(command, await file));
  };
}

/** @param {import("../bundle.mjs").Program} program */
async function writeProgram(program) {
  const { files } = await bundle("process", program, {
    plugins: [externalPackage],
    platform: "node",
    // What is imported later is a file of its own, and with it the import of the package.
    splitting: true,
    outExtension: { ".js": ".mjs" },
  });
  mkdirSync(PROGRAMS, { recursive: true });
  for (const { name, contents } of files) writeFileSync(join(PROGRAMS, name), contents);
  return join(PROGRAMS, `${program}.mjs`);
}

/** Leaves the package to the engine. @type {import("esbuild").Plugin} */
const externalPackage = {
  name: "external-package",
  setup(build) {
    build.onResolve({ filter: /^hedgerow($|\/)/ }, ({ path }) => ({ path, external: true }));
  },
};
