/** The shell of a document: one bash that runs its blocks in order, and its servers in the background. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** URLs that servers print when they listen. */
const URLS = /https?:\/\/(localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0):(\d+)/g;

/** What Redis prints before it listens. */
const REDIS_PORT = /\bport=(\d+)\.$/m;

/** The path of a device that `hedgerow disk attach` serves. */
const DEVICE = /^(\/\S+)\n$/;

/** What servers of disks print when they listen. */
const DISK_URI = /^nbd\+unix:\S+$/m;

/** The time a server may take to listen on a busy machine. */
const PATIENCE = 120_000;

/** Kills all child processes when standard input ends, even if this process was killed. */
const PRELUDE = "set -euo pipefail; trap 'kill -KILL 0' EXIT\n";

export class Shell {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  /** The folder of scripts and their output, apart from the files of the document. */
  readonly #records = mkdtempSync(join(tmpdir(), "hedgerow-shell-"));
  #scripts = 0;
  /** The ports of listening servers. */
  readonly #ports = new Set<string>();
  #folder: string;

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#child = spawn("bash", ["--noprofile", "--norc", "-s"], {
      cwd: folder,
      env,
      // A process group, which can be killed as a whole.
      detached: true,
      stdio: ["pipe", "ignore", "inherit", "pipe"],
    });
    this.#child.stdin?.on("error", () => {});
    const answers = createInterface({ input: this.#child.stdio[3] as Readable });
    this.#answers = answers[Symbol.asyncIterator]();
    this.#child.stdin?.write(PRELUDE);
  }

  /** The working directory of the next block. */
  get folder(): string {
    return this.#folder;
  }

  /** Runs a script to its end, and returns its output. */
  async run(script: string): Promise<string> {
    const record = await this.#source(script);
    return readFileSync(`${record}.out`, "utf8");
  }

  /** Runs a script whose last command keeps running, and waits until it listens. Returns its URL, or its port. */
  async serve(script: string): Promise<string> {
    const record = await this.#source(script);
    const pid = Number(await this.#ask("$!"));
    for (const end = Date.now() + PATIENCE; Date.now() < end && isRunning(pid); await sleep(50)) {
      const [uri] = DISK_URI.exec(printed(record)) ?? [];
      if (uri !== undefined) return uri;
      const [, device] = DEVICE.exec(printed(record)) ?? [];
      if (device !== undefined) return device;
      const [, redis] = REDIS_PORT.exec(printed(record)) ?? [];
      if (redis !== undefined && (await listens("localhost", Number(redis)))) return redis;
      for (const [url, host = "", port = ""] of printed(record).matchAll(URLS)) {
        // The server may print URLs of other servers.
        if (this.#ports.has(port) || !(await listens(host, Number(port)))) continue;
        this.#ports.add(port);
        return url;
      }
    }
    throw new Error(`expected a server that prints its URL, and listens\n${printed(record)}`);
  }

  /** Ends the shell and its child processes. */
  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, "exit");
      this.#child.stdin?.end();
      await ended;
    }
    rmSync(this.#records, { recursive: true, force: true });
  }

  /** Runs a script in the shell. Returns the path of its files, without their extension. */
  async #source(script: string): Promise<string> {
    this.#scripts += 1;
    const record = join(this.#records, String(this.#scripts));
    writeFileSync(`${record}.sh`, `${script}\n`);
    const files = `</dev/null >'${record}.out' 2>'${record}.err'`;
    this.#child.stdin?.write(`source '${record}.sh' ${files}\n`);
    const folder = await this.#ask("$PWD");
    if (folder === undefined) throw new Error(`a command failed\n${printed(record)}`);
    this.#folder = folder;
    return record;
  }

  /** Expands words in the shell. Returns nothing if the shell has ended. */
  async #ask(words: string): Promise<string | undefined> {
    this.#child.stdin?.write(`printf '%s\\n' "${words}" >&3\n`);
    const { value, done } = await this.#answers.next();
    return done ? undefined : value;
  }
}

/** Returns the output of a script, empty if the shell ended before it. */
const printed = (record: string) =>
  [`${record}.out`, `${record}.err`]
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "utf8"))
    .join("");

/** Returns whether a process is running. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Returns whether a port accepts connections. */
async function listens(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host.replace(/^\[|\]$/g, ""));
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
