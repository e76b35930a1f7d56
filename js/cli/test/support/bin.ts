/** Runs the command, in a process of its own or, which is quicker, in the process of the test. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

import { run } from "../../src/program.js";

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

/** Runs `hedgerow` in its own process to its end. */
export async function hedgerowProcess(
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

/**
 * Runs `hedgerow` in the process of the test, which saves the start of Node. Commands run one at a time: they share
 * the streams, the environment and the exit code of the process.
 */
export async function hedgerow(
  args: readonly string[],
  input = "",
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const text = { out: "", err: "" };
  const undo = [
    replace(process.stdout, "write", capture("out")),
    replace(process.stderr, "write", capture("err")),
    replace(process, "stdin", Readable.from(input === "" ? [] : [Buffer.from(input)])),
    replace(process, "env", { ...process.env, ...env }),
  ];
  const listeners = process.listeners("warning");
  const { exitCode } = process;
  process.exitCode = undefined;
  function capture(stream: keyof typeof text) {
    return (data: string | Uint8Array) => {
      text[stream] += Buffer.from(data as string).toString();
      return true;
    };
  }
  try {
    await run(args);
    // Warnings arrive after the current operation.
    await new Promise(setImmediate);
    return { code: Number(process.exitCode ?? 0), ...text };
  } finally {
    for (const each of undo) each();
    process.exitCode = exitCode;
    process.removeAllListeners("warning");
    for (const listener of listeners) process.on("warning", listener);
  }
}

/** Replaces a property. Returns a function that restores it. */
function replace<T extends object>(owner: T, name: keyof T, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  return () => {
    if (before === undefined) delete owner[name];
    else Object.defineProperty(owner, name, before);
  };
}
