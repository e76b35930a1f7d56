/** The tools of the suite, run as people run them. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

import { startServer } from "../../support/processes/serve.js";
import { PATIENCE, SUITE } from "./project.js";

/** A program, and what comes first on its command line. */
export type Command = readonly [file: string, ...args: string[]];

export const NODE: Command = [process.execPath];

/** A tool of this suite. */
export const tool = (name: string): Command => [join(SUITE, "node_modules", ".bin", name)];

/** Nothing tells anyone that it runs, asks for newer versions, or leaves files elsewhere. */
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
 * Runs a command to its end in a folder. Returns what it printed.
 *
 * @throws an error that has all that it printed, if it fails
 */
export async function run(folder: string, command: Command, ...args: string[]): Promise<string> {
  const [file, ...first] = command;
  const options = { cwd: folder, env: environment(folder), timeout: PATIENCE, maxBuffer: 2 ** 26 };
  try {
    return (await promisify(execFile)(file, [...first, ...args], options)).stdout;
  } catch (error) {
    const { code, signal, stdout, stderr } = error as Record<string, unknown>;
    const line = [...command, ...args].join(" ");
    throw new Error(`${line}: ${code ?? signal}\n${stdout}${stderr}`, { cause: error });
  }
}

/** Runs a command in a folder that serves and says where, until the test is done. Returns the URL. */
export async function serve(folder: string, command: Command, ...args: string[]): Promise<URL> {
  const { url, close } = await startServer([...command, ...args], {
    cwd: folder,
    env: environment(folder),
    maxSeconds: PATIENCE / 1000,
  });
  onTestFinished(close);
  return url;
}
