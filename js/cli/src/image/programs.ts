/** The programs of others that images need. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";

import { CliError } from "../error.js";

/** The Debian package of each program. */
const PACKAGES = {
  cp: "coreutils",
  debugfs: "e2fsprogs",
  e2fsck: "e2fsprogs",
  mke2fs: "e2fsprogs",
  "mkfs.erofs": "erofs-utils",
  sh: "dash",
  skopeo: "skopeo",
  tar: "tar",
  unshare: "util-linux",
  xz: "xz-utils",
  zstd: "zstd",
} as const;

type ProgramName = keyof typeof PACKAGES;

/** The maximum length of the errors of a program in a message, in characters. */
const MAX_TEXT = 500;

/** Bytes sort by their values, messages are in English, and users find programs that Debian expects root to run. */
const environment = () => ({
  ...process.env,
  LC_ALL: "C",
  PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
});

/**
 * Yields the output of a program, which ends when the reader does.
 *
 * @param what what the program reads, in errors
 * @throws {CliError} `ERR_SOURCE` if it fails
 */
export async function* programOutput(
  what: string,
  name: ProgramName,
  args: readonly string[],
  input?: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  // In a process group of its own: a terminal sends its signals to this process only.
  const child = spawn(name, args, { detached: true, env: environment() });
  const ended = endOf(child, name, what);
  const written = input === undefined ? child.stdin.end() : pipeline(input, child.stdin);
  // Awaited below. A program that ends early says why.
  if (written instanceof Promise) written.catch(() => {});
  child.stdin.on("error", () => {});
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    await ended;
    await written;
  } finally {
    child.kill("SIGKILL");
  }
}

interface RunOptions {
  readonly signal: AbortSignal;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a program to its end, which comes early when a signal is aborted. Returns the beginning of its messages.
 *
 * @param what what the program reads or writes, in errors
 * @throws {CliError} `ERR_SOURCE` if it fails
 */
export async function runProgram(
  what: string,
  name: ProgramName,
  args: readonly string[],
  { signal, cwd, env }: RunOptions,
): Promise<string> {
  signal.throwIfAborted();
  const child = spawn(name, args, {
    cwd,
    detached: true,
    env: { ...environment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.resume();
  // The whole group: a program may have started others.
  const stop = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await endOf(child, name, what);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Throws if a program is missing. It is started without arguments, whatever it says to that. */
export async function checkProgram(name: ProgramName): Promise<void> {
  const child = spawn(name, [], { stdio: "ignore" });
  await once(child, "close").catch((error) => {
    throw missing(name, error);
  });
}

function missing(name: ProgramName, error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") return error;
  const message = `the program ${name} is missing; on Debian, install the package ${PACKAGES[name]}`;
  return new CliError("ERR_OUTPUT", message);
}

/** Waits for the end of a program. Returns the beginning of its messages. */
function endOf(child: ReturnType<typeof spawn>, name: ProgramName, what: string): Promise<string> {
  let text = "";
  child.stderr?.on("data", (data: Buffer) => {
    text = (text + data.toString()).slice(0, MAX_TEXT);
  });
  const ended = once(child, "close").then(
    ([code, signal]) => {
      if (code === 0) return text;
      const reason = text.trim() || `${name} ended with ${code ?? signal}`;
      throw new CliError("ERR_SOURCE", `${what}: ${reason}`);
    },
    (error) => {
      throw missing(name, error);
    },
  );
  ended.catch(() => {});
  return ended;
}
