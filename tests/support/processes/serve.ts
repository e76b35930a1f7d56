/** Starts server programs, which end at the latest with this process. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

/** Kills the program when this process exits. */
const GUARD = fileURLToPath(new URL("guard.mjs", import.meta.url));

/** A server in its own process. */
export interface Running {
  readonly url: URL;
  close(): Promise<void>;
}

/** The timeout, the working directory and the environment of a program. */
export interface Surroundings {
  readonly maxSeconds: number;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A program in its own process. */
export interface Program {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Kills the program, and waits until it has ended. */
  close(): Promise<void>;
}

/** Starts a program. */
export function startProgram(
  command: readonly string[],
  { maxSeconds, ...surroundings }: Surroundings,
): Program {
  const child = spawn(process.execPath, [GUARD, `${maxSeconds}`, ...command], surroundings);
  const ended = once(child, "exit");
  const close = async () => {
    child.stdin.end();
    await ended;
  };
  return { child, close };
}

/**
 * Starts a program and waits until it prints its URL.
 *
 * @throws an error with its output if it exits without printing one
 */
export async function startServer(
  command: readonly string[],
  surroundings: Surroundings,
): Promise<Running> {
  const { child, close } = startProgram(command, surroundings);
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
