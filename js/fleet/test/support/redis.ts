/** A real Redis server, and proxies in front of it, for tests. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";
import { onTestFinished } from "vitest";

import { freePort } from "../../../../tests/support/http/listen.js";
import { type Program, startProgram } from "../../../../tests/support/processes/serve.js";

/** No file of tests takes longer, even with all trials. */
const MAX_SECONDS = 3_600;

/** A server that keeps nothing on disk. */
export class Redis {
  readonly #folder = mkdtempSync(join(tmpdir(), "hedgerow-redis-"));
  #program: Program | undefined;

  private constructor(readonly port: number) {}

  /** Starts a server on loopback. It ends with this process at the latest. */
  static async start(...options: string[]): Promise<Redis> {
    const redis = new Redis(await freePort());
    await redis.restart(...options);
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the server without any data, after it was stopped. */
  async restart(...options: string[]): Promise<void> {
    const pid = join(this.#folder, "pid");
    const server = ["redis-server", "--port", `${this.port}`, "--bind", "127.0.0.1"];
    const without = ["--save", "", "--appendonly", "no", "--enable-debug-command", "local"];
    const files = ["--dir", this.#folder, "--pidfile", pid];
    const command = [...server, ...without, ...files, ...options];
    this.#program = startProgram(command, { maxSeconds: MAX_SECONDS });
    this.#program.child.stdout.resume();
    this.#program.child.stderr.resume();
    await this.#untilReady();
  }

  /** Kills the server. */
  async stop(): Promise<void> {
    await this.#program?.close();
    this.#program = undefined;
  }

  /** Makes the server answer nothing, with its connections open. */
  pause(): void {
    process.kill(this.#pid(), "SIGSTOP");
  }

  resume(): void {
    process.kill(this.#pid(), "SIGCONT");
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #pid(): number {
    return Number(readFileSync(join(this.#folder, "pid"), "utf8"));
  }

  /** Waits up to ten seconds. */
  async #untilReady(): Promise<void> {
    for (let wait = 0; wait < 500; wait += 1) {
      const client = createClient({ url: this.url, socket: { reconnectStrategy: false } });
      try {
        await client.on("error", () => {}).connect();
        await client.ping();
        return;
      } catch {
        await sleep(20);
      } finally {
        client.destroy();
      }
    }
    throw new Error("redis-server does not start");
  }
}

/** Returns a client, which connects again soon after a failure, and is closed when the test ends. */
export async function connectTo(url: string, version: 2 | 3 = 3) {
  const client = createClient({
    url,
    RESP: version,
    socket: { reconnectStrategy: 50, connectTimeout: 1_000 },
  });
  onTestFinished(() => client.destroy());
  return client.on("error", () => {}).connect();
}

/**
 * How long to wait, in milliseconds, for what takes less than a second on an idle machine: on a busy one, attempts fail that
 * are repeated after ever longer pauses.
 */
const PATIENCE = 50_000;

/** Waits until a condition holds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE; performance.now() < end; await sleep(10))
    if (await holds()) return;
  throw new Error(`expected within ${PATIENCE / 1_000} seconds: ${what}`);
}
