/** Work with snapshots in processes of their own, which may be limited, harmed, or killed. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import type { CreateOptions, RestoreOptions } from "@hedgerow/snapshot";

/** What a process does. */
export interface Job {
  readonly call: "createSnapshot" | "restoreSnapshot" | "verifySnapshot" | "openCache" | "nothing";
  /** A path or a URL. */
  readonly source: string;
  /** What is made; where nothing is made, a file in an empty folder. */
  readonly target: string;
  readonly options?: Omit<CreateOptions & RestoreOptions, "signal" | "onProgress">;
  /** Ends the work: before it begins, by the signal, or by what `onProgress` throws, at its first call. */
  readonly abort?: "before" | "progress" | "throw";
}

/** What became of it. */
export interface Outcome {
  readonly error: {
    readonly name: string;
    readonly message: string;
    readonly code: unknown;
    readonly causeCode: unknown;
    /** What a server answered. */
    readonly status: unknown;
    /** Whether it is what the work was ended with, and not something that tells of it. */
    readonly isReason: boolean;
  } | null;
  /** How long it took, in milliseconds. */
  readonly duration: number;
  /** How often progress was told. */
  readonly told: number;
  /** How much was done when it was told first, of 1, and the milliseconds from then until all was over. */
  readonly share: number | undefined;
  readonly delay: number | undefined;
  /** How many threads were started, and how many of them were running when all was over. */
  readonly started: number;
  readonly running: number;
  /** The most memory that the process had, in bytes. */
  readonly peakMemory: number;
  /** What is in the folder of the target. */
  readonly names: readonly string[];
  /** The SHA-256 of the target, if it is there, and not so large that it is compared elsewhere. */
  readonly target: string | undefined;
}

/** How the process is run. */
export interface Surroundings {
  /** A command that is given the process as its arguments. */
  readonly under?: readonly string[];
  /** What every thread loads first: a module of the folder `preload`. */
  readonly preload?: string;
  /** Options of Node. */
  readonly flags?: readonly string[];
  /** Variables of the environment besides those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What a process says when all is loaded and the work begins. */
const BEGIN = "begin\n";

/** Node, and what comes before the job itself. */
function command({ under = [], flags = [] }: Surroundings): [string, ...string[]] {
  const script = fileURLToPath(new URL("job.mjs", import.meta.url));
  const node = [process.execPath, "--unhandled-rejections=strict", ...flags, script];
  return [...under, ...node] as [string, ...string[]];
}

/** The environment in which threads load a module first, as well. */
function environment({ preload, env }: Surroundings): NodeJS.ProcessEnv {
  if (preload === undefined) return { ...process.env, ...env };
  const { href } = new URL(`preload/${preload}.mjs`, import.meta.url);
  return { ...process.env, ...env, NODE_OPTIONS: `--import=${href}` };
}

/** Runs a job. The process must end by itself, and well: whatever it did not expect is thrown. */
export async function run(job: Job, surroundings: Surroundings = {}): Promise<Outcome> {
  const [program, ...args] = command(surroundings);
  const child = promisify(execFile)(program, [...args, JSON.stringify(job)], {
    timeout: 200_000,
    env: environment(surroundings),
  });
  const { stdout } = await child;
  return JSON.parse(stdout.slice(BEGIN.length)) as Outcome;
}

/**
 * Begins a job, and kills its process some milliseconds later, or when it is time to. Returns whether it was
 * still at work.
 */
export async function killAfter(delay: number | (() => boolean), job: Job): Promise<boolean> {
  const [program, ...args] = command({});
  const child = spawn(program, [...args, JSON.stringify(job)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  let [told, isAtWork] = ["", true];
  let timer: NodeJS.Timeout | undefined;
  const kill = () => void child.kill("SIGKILL");
  const look = (isTime: () => boolean) => setInterval(() => isTime() && kill(), 10);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (told === "") timer = typeof delay === "number" ? setTimeout(kill, delay) : look(delay);
    told += text;
    isAtWork = told.length <= BEGIN.length;
  });
  await exit;
  clearInterval(timer);
  return isAtWork;
}
