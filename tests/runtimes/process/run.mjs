// Runs programs in Node, Deno and Bun, as files that resolve the package in `node_modules`.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { bundle, PROGRAM_TIMEOUT, SUITE } from "../bundle.mjs";

/** A program and its arguments before the name of the file. @typedef {[file: string, ...args: string[]]} Command */

/** The folder of programs, from which the packages of the suite resolve. */
const PROGRAMS = join(SUITE, "node_modules", ".programs");

/**
 * Runs a file until it exits, and returns the JSON that it prints.
 *
 * @param {Command} command
 * @param {string} file
 * @returns {Promise<unknown>}
 */
export async function runFile([command, ...args], file) {
  // Deno has a compilation cache, and checks for updates.
  const env = { ...process.env, DENO_DIR: join(PROGRAMS, "deno"), DENO_NO_UPDATE_CHECK: "1" };
  const options = { cwd: SUITE, env, timeout: PROGRAM_TIMEOUT, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(command, [...args, file], options);
  return JSON.parse(stdout);
}

/**
 * Returns a function that runs a program in one of these engines. Programs are bundled once for all of them.
 */
export function processes() {
  /** @type {Map<import("../bundle.mjs").Program, Promise<string>>} */
  const files = new Map();
  return async (
    /** @type {Command} */ command,
    /** @type {import("../bundle.mjs").Program} */ program,
  ) => {
    const file = files.get(program) ?? writeProgram(program);
    files.set(program, file);
    return /** @type {import("../bundle.mjs").Outcome[]} */ (await runFile(command, await file));
  };
}

/** @param {import("../bundle.mjs").Program} program */
async function writeProgram(program) {
  const { files } = await bundle("process", program, {
    plugins: [externalPackage],
    platform: "node",
    // Dynamic imports stay separate files, together with their import of the package.
    splitting: true,
    outExtension: { ".js": ".mjs" },
  });
  mkdirSync(PROGRAMS, { recursive: true });
  for (const { name, contents } of files) writeFileSync(join(PROGRAMS, name), contents);
  return join(PROGRAMS, `${program}.mjs`);
}

/** Lets the engine resolve the package. @type {import("esbuild").Plugin} */
const externalPackage = {
  name: "external-package",
  setup(build) {
    build.onResolve({ filter: /^hedgerow($|\/)/ }, ({ path }) => ({ path, external: true }));
  },
};
