// Runs commands and reports progress.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { delimiter } from "node:path";

import { inRoot, root } from "./paths.mjs";
import { toolFolders } from "./tools.mjs";

/** Folders of file system tools, which a user's `PATH` may lack. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/sbin"];

/** A failure whose message suffices, without a stack trace. */
export class StepError extends Error {}

/** Prints the next step. @param {string} what */
export const step = (what) => console.log(`\u203a ${what}`);

/** Returns the environment of commands: the project's own tools come first on the `PATH`. @param {Record<string, string>} [env] */
function environment(env) {
  const own = [...toolFolders(), inRoot("node_modules", ".bin")];
  const folders = [...own, process.env.PATH, ...SYSTEM_FOLDERS];
  return { ...process.env, PATH: folders.join(delimiter), ...env };
}

/**
 * Runs a command in the root of the repository, or in `cwd`, and waits for it.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ stdout?: "pipe", stderr?: "pipe" | "ignore", env?: Record<string, string>, cwd?: string }} options
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
 * Runs a command, shows its output, and throws if it fails.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string }} [options]
 */
export function run(command, args, options = {}) {
  const { status, error } = execute(command, args, options);
  if (status !== 0) throw failure(command, args, status, error);
}

/**
 * Runs commands in parallel, shows their output, and throws after the last has ended if one of them failed.
 *
 * @param {[command: string, args: string[]][]} commands
 */
export async function runTogether(commands) {
  const endings = commands.map(([command, args]) =>
    once(
      spawn(command, args, {
        cwd: root,
        env: environment(),
        stdio: ["ignore", "inherit", "inherit"],
      }),
      "exit",
    ),
  );
  const statuses = (await Promise.all(endings)).map(([status]) => status);
  if (statuses.some((status) => status !== 0)) throw new StepError("one of the steps above failed");
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {number | null} status
 * @param {Error} [error] why the command could not be started
 */
const failure = (command, args, status, error) =>
  new StepError(
    error === undefined
      ? `failed (${status}): ${command} ${args.join(" ")}`
      : `${command}: ${error.message}`,
  );

/**
 * Runs a command and returns its output. Shows its errors, and throws if it fails.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string }} [options]
 */
export function output(command, args, options = {}) {
  const { status, stdout, error } = execute(command, args, { ...options, stdout: "pipe" });
  if (status !== 0) throw failure(command, args, status, error);
  return stdout;
}

/**
 * Runs a command quietly and returns its output, or `undefined` if it fails or does not exist.
 *
 * @param {string} command
 * @param {string[]} args
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
 * @param {{ stdout?: "pipe", env?: Record<string, string>, cwd?: string }} [options]
 */
export function attempt(command, args, options = {}) {
  const { status, stdout, stderr, error } = execute(command, args, { ...options, stderr: "pipe" });
  return { status, output: stdout ?? "", errors: error?.message ?? stderr };
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
