import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The executable that npm links. */
export const BIN = fileURLToPath(new URL("../../bin/hedgerow.js", import.meta.url));
const TERMINAL = fileURLToPath(new URL("terminal.py", import.meta.url));

/** Variables that reduce terminal output. */
const { CI, NO_COLOR, FORCE_COLOR, ...ENV } = process.env;

export interface Ended {
  /** The exit code, or the signal that ended the process. */
  readonly code: number | NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** Starts `hedgerow` as a shell does. */
export function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [BIN, ...args], { env: { ...process.env, ...env } });
}

/** Starts `hedgerow` in a pseudo-terminal connected to the process's input and output. */
export function startInTerminal(
  columns: number,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcessWithoutNullStreams {
  const command = [TERMINAL, String(columns), process.execPath, BIN, ...args];
  return spawn("python3", command, { env: { ...ENV, TERM: "xterm-256color", ...env } });
}

/** Waits for a process to end. */
export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const text = { out: "", err: "" };
  child.stdout.on("data", (data) => {
    text.out += data;
  });
  child.stderr.on("data", (data) => {
    text.err += data;
  });
  return new Promise((resolve) => {
    child.on("close", (code, signal) => resolve({ code: code ?? signal, ...text }));
  });
}

/** Runs `hedgerow` to its end. */
export async function hedgerow(
  args: readonly string[],
  input = "",
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const child = start(args, env);
  // The process may end before it has read everything.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return ended(child);
}
