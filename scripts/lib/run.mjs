// Runs commands and reports progress.
import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";

import { inRoot, root } from "./paths.mjs";
import { toolFolders } from "./tools.mjs";

/** Folders of file system tools, which a user's `PATH` may lack. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/sbin"];

/** A failure whose message suffices, without a stack trace. */
export class StepError extends Error {}

/** Prints the next step. @param {string} what */
export function step(what) {
  console.log(`\u203a ${what}`);
}

/**
 * Runs a command and waits for it. Default `cwd`: the root of the repository. The project's own tools come
 * first on the `PATH`.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ stdout?: "pipe", stderr?: "pipe" | "ignore", env?: Record<string, string>, cwd?: string }} options
 */
function spawn(command, args, { stdout, stderr, env, cwd = root }) {
  const own = [...toolFolders(), inRoot("node_modules", ".bin")];
  const folders = [...own, process.env.PATH, ...SYSTEM_FOLDERS];
  return spawnSync(command, args, {
    cwd,
    env: { ...process.env, PATH: folders.join(delimiter), ...env },
    encoding: "utf8",
    stdio: ["ignore", stdout ?? "inherit", stderr ?? "inherit"],
  });
}

/**
 * Runs a command, shows its output, and throws if it fails.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string }} [options]
 */
export function run(command, args, options = {}) {
  const { status, error } = spawn(command, args, options);
  if (error !== undefined) throw new StepError(`${command}: ${error.message}`);
  if (status !== 0) throw new StepError(`failed (${status}): ${command} ${args.join(" ")}`);
}

/**
 * Runs a command and returns its output, or `undefined` if it fails or does not exist.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ showErrors?: boolean }} [options]
 */
export function capture(command, args, { showErrors = false } = {}) {
  const errors = showErrors ? {} : { stderr: /** @type {const} */ ("ignore") };
  const { status, stdout } = spawn(command, args, { stdout: "pipe", ...errors });
  return status === 0 ? stdout : undefined;
}

/**
 * Runs a command that may fail. Returns its status, its standard error, and its output if it is piped.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ stdout?: "pipe", env?: Record<string, string>, cwd?: string }} [options]
 */
export function attempt(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawn(command, args, { ...options, stderr: "pipe" });
  return { status, output: stdout ?? "", errors: error?.message ?? stderr };
}

/**
 * Runs the steps of a script; a failure prints one line and exits with code 1.
 *
 * @param {() => void | Promise<void>} steps
 */
export async function main(steps) {
  try {
    await steps();
  } catch (error) {
    console.error(error instanceof StepError ? `\u2717 ${error.message}` : error);
    process.exit(1);
  }
}
