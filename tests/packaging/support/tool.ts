/** Runs the tools of the suite. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

import { startServer } from "../../support/processes/serve.js";
import { SUITE, TEST_TIMEOUT } from "./project.js";

/** A program and its first arguments. */
export type Command = readonly [file: string, ...args: string[]];

export const NODE: Command = [process.execPath];

/** Returns the command of a tool of this suite. */
export const tool = (name: string): Command => [join(SUITE, "node_modules", ".bin", name)];

/** Disables telemetry and update checks, and keeps all files in the folder. */
const environment = (folder: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: folder,
  CI: "1",
  NO_COLOR: "1",
  DENO_DIR: join(folder, ".deno"),
  DENO_NO_UPDATE_CHECK: "1",
  DO_NOT_TRACK: "1",
  NEXT_TELEMETRY_DISABLED: "1",
  WRANGLER_SEND_METRICS: "false",
});

/**
 * Runs a command in a folder until it exits. Returns its standard output.
 *
 * @throws an error with all of its output if it fails
 */
export async function run(folder: string, command: Command, ...args: string[]): Promise<string> {
  const [file, ...first] = command;
  const options = {
    cwd: folder,
    env: environment(folder),
    timeout: TEST_TIMEOUT,
    maxBuffer: 2 ** 26,
  };
  try {
    return (await promisify(execFile)(file, [...first, ...args], options)).stdout;
  } catch (error) {
    const { code, signal, stdout, stderr } = error as Record<string, unknown>;
    const line = [...command, ...args].join(" ");
    throw new Error(`${line}: ${code ?? signal}\n${stdout}${stderr}`, { cause: error });
  }
}

/** Runs a server in a folder until the test is done. Returns the URL that it prints. */
export async function serve(
  folder: string,
  command: Command,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<URL> {
  const { url, close } = await startServer([...command, ...args], {
    cwd: folder,
    env: { ...environment(folder), ...env },
    maxSeconds: TEST_TIMEOUT / 1000,
  });
  onTestFinished(close);
  return url;
}
