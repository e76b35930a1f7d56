/** Starts server programs that print their URL. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Kills the program when this process exits. */
export const GUARD = fileURLToPath(new URL("guard.mjs", import.meta.url));

/** A server in its own process. */
export interface Running {
  readonly url: URL;
  close(): Promise<void>;
}

/** The working directory and the timeout of a program. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly maxSeconds: number;
}

/**
 * Starts a program and waits until it prints its URL.
 *
 * @throws an error with its output if it exits without printing one
 */
export async function startServer(
  command: readonly string[],
  { cwd, env, maxSeconds }: Surroundings,
): Promise<Running> {
  const child = spawn(process.execPath, [GUARD, `${maxSeconds}`, ...command], { cwd, env });
  const ended = once(child, "exit");
  const close = async () => {
    child.stdin.end();
    await ended;
  };
  let printed = "";
  child.stderr.on("data", (text) => {
    printed += text;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (url !== undefined) {
      child.stdout.resume();
      return { url: new URL(url), close };
    }
    printed += `${line}\n`;
  }
  await close();
  throw new Error(`${command.join(" ")}: expected the URL that it serves\n${printed}`);
}
