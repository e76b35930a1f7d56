/** Examples as their READMEs run them: built by their own scripts, and started as processes. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Kills what it runs when this process is gone. */
const GUARD = fileURLToPath(new URL("../s3/guard.mjs", import.meta.url));

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

/** A server that is a process of its own. */
export interface Running {
  readonly url: URL;
  close(): Promise<void>;
}

/**
 * Runs a script with Node, which begins to serve and then prints where.
 *
 * @param args the script and its arguments
 */
export async function start(
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Running> {
  const command = [GUARD, String(MAX_SECONDS), process.execPath, ...args];
  const child = spawn(process.execPath, command, {
    cwd: folder,
    env: { ...process.env, ...env, PORT: "0" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const close = async () => {
    child.stdin.end();
    await ended;
  };
  let printed = "";
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (url !== undefined) {
      child.stdout.resume();
      return { url: new URL(url), close };
    }
    printed += `${line}\n`;
  }
  await close();
  throw new Error(`${args}: expected the URL that it serves, found ${printed || "nothing"}`);
}
