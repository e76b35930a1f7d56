/** Builds and starts examples as their READMEs do. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { type Running, startServer } from "../processes/serve.js";

export type { Running } from "../processes/serve.js";

/** Timeout of a process. */
const MAX_SECONDS = 600;

/** Returns the folder of an example. */
export const exampleFolder = (name: string) =>
  fileURLToPath(new URL(`../../../examples/${name}/`, import.meta.url));

/** Runs `npm run build` in a folder. Returns its output. */
export async function build(folder: string, env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, ...env } };
  const { stdout } = await promisify(execFile)("npm", ["run", "build", "--silent"], options);
  return stdout;
}

/**
 * Runs a server script with Node that prints its URL.
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
