/** Examples as their READMEs run them: built by their own scripts, and started as processes. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { type Running, startServer } from "../processes/serve.js";

export type { Running } from "../processes/serve.js";

/** No test takes as long as this. */
const MAX_SECONDS = 600;

/** Where an example is. */
export const exampleFolder = (name: string) =>
  fileURLToPath(new URL(`../../../examples/${name}/`, import.meta.url));

/** Runs `npm run build` in a folder. Returns what it printed. */
export async function build(folder: string, env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, ...env } };
  const { stdout } = await promisify(execFile)("npm", ["run", "build", "--silent"], options);
  return stdout;
}

/**
 * Runs a script with Node, which begins to serve and then prints where.
 *
 * @param args the script and its arguments
 */
export function start(
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Running> {
  return startServer([process.execPath, ...args], {
    cwd: folder,
    env: { ...process.env, ...env, PORT: "0" },
    maxSeconds: MAX_SECONDS,
  });
}
