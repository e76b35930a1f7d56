import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { OpenOptions } from "@hedgerow/snapshot";

const SCRIPT = fileURLToPath(new URL("disk-process.mjs", import.meta.url));

/** A process that serves a disk over NBD. */
export class DiskProcess {
  readonly #child: ChildProcess;
  readonly #lines: Interface;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  }

  /** @param name of the export. Default: the default export */
  static async start(
    source: string,
    options: OpenOptions,
    socket: string,
    name?: string,
  ): Promise<DiskProcess> {
    const argument = JSON.stringify({ source, options, listen: { path: socket, name } });
    const child = spawn(process.execPath, [SCRIPT, argument], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const disk = new DiskProcess(child);
    await disk.#line();
    return disk;
  }

  /** Limits the length of files, in bytes: writes beyond it fail. */
  limitFiles(length: number | "unlimited"): void {
    execFileSync("prlimit", ["--pid", `${this.#child.pid}`, `--fsize=${length}:unlimited`]);
  }

  /** Saves the disk. @param destination the path of the delta */
  async save(destination: string): Promise<void> {
    this.#child.stdin?.write(`${destination}\n`);
    await this.#line();
  }

  /** Kills the process, if it still runs. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }

  /** Closes the disk. */
  async close(): Promise<void> {
    const exit = once(this.#child, "exit");
    this.#child.stdin?.end();
    const [code] = await exit;
    if (code !== 0) throw new Error(`the process ended with ${code}`);
  }

  async #line(): Promise<void> {
    const exit = once(this.#child, "exit").then(([code]) => {
      throw new Error(`the process ended with ${code}`);
    });
    exit.catch(() => {});
    await Promise.race([once(this.#lines, "line"), exit]);
  }
}
