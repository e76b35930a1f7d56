import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

import { CliError } from "../error.js";

/** The maximum length of the output of a program in an error, in characters. */
const MAX_TEXT = 500;

/** A program in a separate process group: a terminal sends its signals to this process only. */
export interface Program {
  readonly child: ChildProcess;
  /** Returns the beginning of its standard output so far. */
  readonly output: () => string;
  /** Settles when the program has ended: with nothing, or with the reason why it failed. */
  readonly ended: Promise<string | undefined>;
}

/** Starts a program. */
export function startProgram(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Program {
  const child = spawn(name, args, { stdio: ["ignore", "pipe", "pipe"], detached: true, env });
  let text = "";
  let output = "";
  const add = (to: string, data: Buffer) => (to + data.toString()).slice(0, MAX_TEXT);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data: Buffer) => {
      text = add(text, data);
      if (stream === child.stdout) output = add(output, data);
    });
  }
  return { child, output: () => output.trim(), ended: endOf(name, child, () => text.trim()) };
}

async function endOf(
  name: string,
  child: ChildProcess,
  text: () => string,
): Promise<string | undefined> {
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    if (code === 0) return undefined;
    return text() || `${name} ended with ${code ?? signal}`;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isMissing ? `the program ${name} is missing` : `${name}: ${(error as Error).message}`;
  }
}

/** Runs a program to its end. Returns its standard output. @throws {CliError} `ERR_OUTPUT` if it fails */
export async function runProgram(
  what: string,
  name: string,
  args: readonly string[],
): Promise<string> {
  const { output, ended } = startProgram(name, args);
  const reason = await ended;
  if (reason !== undefined) throw new CliError("ERR_OUTPUT", `cannot ${what}: ${reason}`);
  return output();
}
