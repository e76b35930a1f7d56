/** Engines: programs of others that do a part of the work. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";

import { CliError, type ErrorCode } from "./error.js";

/** The Debian package of each engine. */
const PACKAGES = {
  blockdev: "util-linux",
  cp: "coreutils",
  debugfs: "e2fsprogs",
  e2fsck: "e2fsprogs",
  fusermount3: "fuse3",
  losetup: "mount",
  mke2fs: "e2fsprogs",
  "mkfs.erofs": "erofs-utils",
  mount: "mount",
  nbdfuse: "libnbd-bin",
  nbdublk: "libnbd-bin",
  "nbd-client": "nbd-client",
  "qemu-storage-daemon": "qemu-system-common",
  sh: "dash",
  skopeo: "skopeo",
  sync: "coreutils",
  tar: "tar",
  umount: "mount",
  unshare: "util-linux",
  xz: "xz-utils",
  zstd: "zstd",
} as const;

export type EngineName = keyof typeof PACKAGES;

/** The maximum length of the output of an engine in an error, in characters. */
const MAX_TEXT = 500;

/** How an engine runs. */
interface EngineOptions {
  readonly cwd?: string;
  /** Variables that the engine has in addition. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the kernel ends the engine when this process is killed. Default: `false` */
  readonly isBound?: boolean;
}

/** A running engine, in a process group of its own: a terminal sends its signals to this process only. */
export interface Engine {
  readonly child: ChildProcess;
  /** Returns the beginning of its standard output so far. */
  readonly output: () => string;
  /** Returns the beginning of its standard output and its errors so far. */
  readonly text: () => string;
  /** Settles when the engine has ended: with nothing, or with the reason why it failed. */
  readonly ended: Promise<string | undefined>;
  /** Kills the engine and what it has started. */
  readonly kill: () => void;
}

/** Starts an engine. */
export function startEngine(
  name: EngineName,
  args: readonly string[],
  options: EngineOptions = {},
): Engine {
  const child = start(name, args, options, "ignore");
  let [text, output] = ["", ""];
  const add = (to: string, data: Buffer) => (to + data.toString()).slice(0, MAX_TEXT);
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on("data", (data: Buffer) => {
      text = add(text, data);
      if (stream === child.stdout) output = add(output, data);
    });
  }
  return {
    child,
    output: () => output.trim(),
    text: () => text.trim(),
    ended: endOf(name, child, () => text.trim()),
    kill: () => killGroup(child),
  };
}

/** What an engine is run for. */
interface RunOptions extends EngineOptions {
  /** What fails if the engine does: the object of `cannot`. */
  readonly what: string;
  /** The code of that error. Default: `ERR_OUTPUT` */
  readonly code?: ErrorCode;
  /** Aborted to kill the engine. */
  readonly signal?: AbortSignal;
}

/** Runs an engine to its end. @throws {CliError} if it fails */
export async function runEngine(
  name: EngineName,
  args: readonly string[],
  { what, code = "ERR_OUTPUT", signal, ...options }: RunOptions,
): Promise<Engine> {
  signal?.throwIfAborted();
  const engine = startEngine(name, args, options);
  signal?.addEventListener("abort", engine.kill, { once: true });
  const reason = await engine.ended;
  signal?.removeEventListener("abort", engine.kill);
  signal?.throwIfAborted();
  if (reason !== undefined) throw new CliError(code, `cannot ${what}: ${reason}`);
  return engine;
}

/**
 * Yields the output of an engine, which is killed when the reader stops.
 *
 * @param input what the engine reads
 * @throws {CliError} `ERR_SOURCE` if it fails
 */
export async function* engineOutput(
  name: EngineName,
  args: readonly string[],
  what: string,
  input?: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const child = start(name, args, {}, input === undefined ? "ignore" : "pipe");
  let text = "";
  child.stderr!.on("data", (data: Buffer) => {
    text = (text + data.toString()).slice(0, MAX_TEXT);
  });
  const ended = endOf(name, child, () => text.trim());
  const written = input === undefined ? undefined : pipeline(input, child.stdin!);
  // Awaited below. An engine that ends early says why.
  written?.catch(() => {});
  let reason: string | undefined;
  let isRunning = true;
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    reason = await ended;
    isRunning = false;
    if (reason !== undefined) throw new CliError("ERR_SOURCE", `cannot ${what}: ${reason}`);
    await written;
  } finally {
    if (isRunning) killGroup(child);
  }
}

/** Throws if an engine is missing. It is asked for its version, whatever it says to that. */
export async function checkEngine(name: EngineName, what: string): Promise<void> {
  const child = spawn(name, ["--version"], { stdio: "ignore", env: environment({}) });
  await once(child, "close").catch((error) => {
    throw new CliError("ERR_OUTPUT", `cannot ${what}: ${startError(name, error)}`);
  });
}

function start(
  name: EngineName,
  args: readonly string[],
  { cwd, env = {}, isBound = false }: EngineOptions,
  stdin: "ignore" | "pipe",
): ChildProcess {
  const bound = isBound ? ["setpriv", "--pdeathsig", "TERM"] : [];
  const [program = name, ...rest] = [...bound, name, ...args];
  const stdio: StdioOptions = [stdin, "pipe", "pipe"];
  return spawn(program, rest, { cwd, detached: true, env: environment(env), stdio });
}

/** All users find what Debian expects root to run. */
const environment = (env: Readonly<Record<string, string>>) => ({
  ...process.env,
  PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
  ...env,
});

async function endOf(
  name: EngineName,
  child: ChildProcess,
  text: () => string,
): Promise<string | undefined> {
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    return code === 0 ? undefined : text() || `${name} ended with ${code ?? signal}`;
  } catch (error) {
    return startError(name, error);
  }
}

function startError(name: EngineName, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== "ENOENT") return `${name}: ${message}`;
  return `the program ${name} is missing; on Debian, install the package ${PACKAGES[name]}`;
}

/** Kills the remaining processes of the group of an engine. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // All have ended.
  }
}
