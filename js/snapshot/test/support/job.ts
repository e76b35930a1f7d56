/** Jobs in child processes, which tests can limit, break or kill. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import type { CreateOptions, RestoreOptions } from "@hedgerow/snapshot";
import { afterAll } from "vitest";

/** A job: one call of the package. */
export interface Job {
  readonly call:
    | "createSnapshot"
    | "flattenSnapshot"
    | "restoreSnapshot"
    | "verifySnapshot"
    | "openCache"
    | "openSnapshot"
    | "nothing";
  /** A path or a URL. */
  readonly source: string;
  /** The path of the result; for calls without one, any path in an empty folder. */
  readonly target: string;
  readonly options?: Omit<CreateOptions & RestoreOptions, "signal" | "onProgress">;
  /**
   * Ends the job: `before` aborts the signal before the call; `progress` aborts it, and `throw` throws, at the
   * first call of `onProgress`.
   */
  readonly abort?: "before" | "progress" | "throw";
}

/** The outcome of a job. */
export interface Outcome {
  readonly error: {
    readonly name: string;
    readonly message: string;
    readonly code: unknown;
    readonly causeCode: unknown;
    /** The HTTP status of the response. */
    readonly status: unknown;
    /** Whether the error is the reason with which the job was ended, and not a wrapper of it. */
    readonly isReason: boolean;
  } | null;
  /** The duration of the call, in milliseconds. */
  readonly duration: number;
  /** The number of calls of `onProgress`. */
  readonly progressCalls: number;
  /** At the first call of `onProgress`: the share of the work that was done, and the milliseconds until the end. */
  readonly share: number | undefined;
  readonly delay: number | undefined;
  /** How many workers were used, and how many of them were neither ended nor waiting when the call ended. */
  readonly used: number;
  readonly running: number;
  /** The peak memory of the process, in bytes. */
  readonly peakMemory: number;
  /** The names in the folder of the target. */
  readonly names: readonly string[];
  /** The SHA-256 of the target, unless it is missing or larger than 64 MiB. */
  readonly target: string | undefined;
}

/** The environment of a process. */
export interface JobEnvironment {
  /** A command that runs the process, which is appended to its arguments. */
  readonly under?: readonly string[];
  /** A module of the folder `preload`, which every thread loads first. */
  readonly preload?: string;
  /** Options of Node. */
  readonly flags?: readonly string[];
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The output of a process right before the call. */
const BEGIN = "begin\n";

/** Returns the command line without the job. */
function command({ under = [], flags = [] }: JobEnvironment): [string, ...string[]] {
  const script = fileURLToPath(new URL("job.mjs", import.meta.url));
  const node = [process.execPath, "--unhandled-rejections=strict", ...flags, script];
  return [...under, ...node] as [string, ...string[]];
}

/** Returns the environment variables. */
function variables({ preload, env }: JobEnvironment): NodeJS.ProcessEnv {
  if (preload === undefined) return { ...process.env, ...env };
  const { href } = new URL(`preload/${preload}.mjs`, import.meta.url);
  return { ...process.env, ...env, NODE_OPTIONS: `--import=${href}` };
}

/** Runs a job. Throws if the process does not exit by itself with code 0. */
export async function run(job: Job, environment: JobEnvironment = {}): Promise<Outcome> {
  const [program, ...args] = command(environment);
  const child = promisify(execFile)(program, [...args, JSON.stringify(job)], {
    timeout: 200_000,
    env: variables(environment),
  });
  const { stdout } = await child;
  return JSON.parse(stdout.slice(BEGIN.length)) as Outcome;
}

/**
 * Returns a function that runs jobs, one after the other, in a process that they share: most of the cost of a job is
 * to start its process. The process must end by itself, with code 0, after the tests of the file.
 */
export function sharedProcess(
  environment: JobEnvironment = {},
): (job: Job, env?: JobEnvironment["env"]) => Promise<Outcome> {
  let shared: ReturnType<typeof start> | undefined;
  const start = () => {
    const [program, ...args] = command(environment);
    const child = spawn(program, args, {
      stdio: ["pipe", "pipe", "inherit"],
      env: variables(environment),
    });
    const exit = once(child, "exit");
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return { child, exit, lines };
  };
  afterAll(async () => {
    if (shared === undefined) return;
    shared.child.stdin.end();
    const [code, signal] = await shared.exit;
    if (code !== 0) throw new Error(`expected a process to end well, found ${code ?? signal}`);
  });
  return async (job, env = {}) => {
    shared ??= start();
    shared.child.stdin.write(`${JSON.stringify({ job, env })}\n`);
    const { value, done } = await shared.lines.next();
    if (done) throw new Error("expected the outcome of a job, found that its process ended");
    return JSON.parse(value) as Outcome;
  };
}

/**
 * Starts a job, and kills its process after `delay` milliseconds, or when `delay` returns true. Returns whether
 * the job was still running.
 */
export async function killAfter(delay: number | (() => boolean), job: Job): Promise<boolean> {
  const [program, ...args] = command({});
  const child = spawn(program, [...args, JSON.stringify(job)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  let [output, isRunning] = ["", true];
  let timer: NodeJS.Timeout | undefined;
  const kill = () => void child.kill("SIGKILL");
  const look = (isTime: () => boolean) => setInterval(() => isTime() && kill(), 10);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (output === "") timer = typeof delay === "number" ? setTimeout(kill, delay) : look(delay);
    output += text;
    isRunning = output.length <= BEGIN.length;
  });
  await exit;
  clearInterval(timer);
  return isRunning;
}
