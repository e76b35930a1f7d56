/** The shell of a document: one bash, in which blocks run one after another, and servers beside them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** Where servers say that they listen. */
const URLS = /https?:\/\/(localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0):(\d+)/g;

/** How long a server may take until it listens, on a machine that does much else. */
const PATIENCE = 120_000;

/** All that it has started is killed when its input ends, as it does when this process is gone. */
const PRELUDE = "set -euo pipefail; trap 'kill -KILL 0' EXIT\n";

export class Shell {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  /** Where scripts are, and what they print: apart from the files of the document. */
  readonly #records = mkdtempSync(join(tmpdir(), "hedgerow-shell-"));
  #scripts = 0;
  /** Of servers that listen. */
  readonly #ports = new Set<string>();
  #folder: string;

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#child = spawn("bash", ["--noprofile", "--norc", "-s"], {
      cwd: folder,
      env,
      // A group of its own, which is killed as a whole.
      detached: true,
      stdio: ["pipe", "ignore", "inherit", "pipe"],
    });
    this.#child.stdin?.on("error", () => {});
    const answers = createInterface({ input: this.#child.stdio[3] as Readable });
    this.#answers = answers[Symbol.asyncIterator]();
    this.#child.stdin?.write(PRELUDE);
  }

  /** The folder in which the next block begins. */
  get folder(): string {
    return this.#folder;
  }

  /** Runs a script to its end. Returns what it printed. */
  async run(script: string): Promise<string> {
    const record = await this.#source(script);
    return readFileSync(`${record}.out`, "utf8");
  }

  /** Runs a script whose last command stays, and waits until it listens. Returns where. */
  async serve(script: string): Promise<string> {
    const record = await this.#source(script);
    const pid = Number(await this.#ask("$!"));
    for (const end = Date.now() + PATIENCE; Date.now() < end && isThere(pid); await sleep(50)) {
      for (const [url, host = "", port = ""] of printed(record).matchAll(URLS)) {
        // It may print where others listen.
        if (this.#ports.has(port) || !(await listens(host, Number(port)))) continue;
        this.#ports.add(port);
        return url;
      }
    }
    throw new Error(`expected a server that prints its URL, and listens\n${printed(record)}`);
  }

  /** Ends all that the shell has started. */
  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, "exit");
      this.#child.stdin?.end();
      await ended;
    }
    rmSync(this.#records, { recursive: true, force: true });
  }

  /** Has the shell read a script. Returns the path of its record, without the ending. */
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

  /** Asks for what words stand for. Nothing comes back from a shell that has ended. */
  async #ask(words: string): Promise<string | undefined> {
    this.#child.stdin?.write(`printf '%s\\n' "${words}" >&3\n`);
    const { value, done } = await this.#answers.next();
    return done ? undefined : value;
  }
}

/** What a script has printed; nothing, if the shell had ended before it. */
const printed = (record: string) =>
  [`${record}.out`, `${record}.err`]
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "utf8"))
    .join("");

/** Whether a process has not ended. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether something takes connections at a port. */
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
