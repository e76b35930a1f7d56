// Runs commands and reports progress.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { delimiter } from "node:path";

import { inRoot, root } from "./paths.mjs";
import { toolFolders } from "./tools.mjs";

/** Folders of file system tools, which a user's `PATH` may lack. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/sbin"];

/**
 * npm installs no version of a package that was published later. Packages that lockfiles do not list have ranges of versions,
 * and a registry may have a new release before it has what that release needs.
 */
export const PUBLISHED_BEFORE = "2026-11-22";

/** A failure whose message suffices, without a stack trace. */
export class StepError extends Error {}

/** Prints the next step. @param {string} what */
export const step = (what) => console.log(`\u203a ${what}`);

/**
 * Variables to add to the environment, and the folder. Default: the root.
 *
 * @typedef {{ env?: Record<string, string>, cwd?: string }} Options
 */

/** Returns an environment whose `PATH` has the project's own tools first. @param {Options["env"]} [env] */
function environment(env) {
  const own = [...toolFolders(), inRoot("node_modules", ".bin")];
  const folders = [...own, process.env.PATH, ...SYSTEM_FOLDERS];
  const variables = { npm_config_before: PUBLISHED_BEFORE, ...process.env };
  return { ...variables, PATH: folders.join(delimiter), ...env };
}

/**
 * Runs a command and waits for it.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {Options & { stdout?: "pipe", stderr?: "pipe" | "ignore" }} options
 */
function execute(command, args, { stdout, stderr, env, cwd = root }) {
  return spawnSync(command, args, {
    cwd,
    env: environment(env),
    encoding: "utf8",
    stdio: ["ignore", stdout ?? "inherit", stderr ?? "inherit"],
  });
}

/**
 * Runs a command that must succeed. Returns its output if it is piped.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {Options & { stdout?: "pipe" }} options
 */
function executeOrThrow(command, args, options) {
  const { status, stdout, error } = execute(command, args, options);
  if (error !== undefined) throw new StepError(`${command}: ${error.message}`);
  if (status !== 0) throw new StepError(`failed (${status}): ${command} ${args.join(" ")}`);
  return stdout;
}

/**
 * Runs a command, shows its output, and throws if it fails.
 *
 * @type {(command: string, args: string[], options?: Options) => void}
 */
export const run = (command, args, options) => void executeOrThrow(command, args, { ...options });

/**
 * Runs a command and returns its output. Shows its errors, and throws if it fails.
 *
 * @type {(command: string, args: string[], options?: Options) => string}
 */
export const output = (command, args, options) =>
  executeOrThrow(command, args, { ...options, stdout: "pipe" });

/** Returns files that git does not ignore, from the root of the repository. @param {string} pattern */
export function listFiles(pattern) {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z", pattern];
  const files = new Set(output("git", args).split("\0"));
  return [...files].filter((file) => file !== "" && existsSync(inRoot(file))).sort();
}

/**
 * Runs a command quietly and returns its output, or `undefined` if it fails or does not exist.
 *
 * @type {(command: string, args: string[]) => string | undefined}
 */
export function capture(command, args) {
  const { status, stdout } = execute(command, args, { stdout: "pipe", stderr: "ignore" });
  return status === 0 ? stdout : undefined;
}

/**
 * Runs a command that may fail. Returns its status, its standard error, and its output if it is piped.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {Options & { stdout?: "pipe" }} [options]
 */
export function attempt(command, args, options) {
  const { status, stdout, stderr, error } = execute(command, args, { ...options, stderr: "pipe" });
  return { status, output: stdout ?? "", errors: error?.message ?? stderr };
}

/**
 * Runs commands in parallel, shows their output, and throws after the last has ended if one of them failed.
 *
 * @param {[command: string, args: string[]][]} commands
 * @param {Options["env"]} [env]
 */
export async function runTogether(commands, env) {
  /** @type {import("node:child_process").SpawnOptions} */
  const options = { cwd: root, env: environment(env), stdio: ["ignore", "inherit", "inherit"] };
  const ended = commands.map(([command, args]) => once(spawn(command, args, options), "exit"));
  const statuses = (await Promise.all(ended)).map(([status]) => status);
  if (statuses.some((status) => status !== 0)) throw new StepError("one of the steps above failed");
}

/**
 * Runs the steps of a script. A failed step or a wrong option prints one line and exits with code 1.
 *
 * @param {() => void | Promise<void>} steps
 */
export async function main(steps) {
  try {
    await steps();
  } catch (error) {
    const { code = "" } = /** @type {NodeJS.ErrnoException} */ (error);
    const isExpected = error instanceof StepError || code.startsWith("ERR_PARSE_ARGS");
    console.error(isExpected ? `\u2717 ${/** @type {Error} */ (error).message}` : error);
    process.exit(1);
  }
}
