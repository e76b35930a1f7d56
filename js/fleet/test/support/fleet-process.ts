/** Hosts in processes of their own, which tests can kill. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

import { until } from "./redis.js";

/** What a host does. */
export interface FleetJob {
  readonly url: string;
  /** How far its clock is ahead, in milliseconds. */
  readonly shift: number;
  readonly report?: {
    readonly host: string;
    readonly ttl: number;
    readonly digests: readonly string[];
  };
  /** Takes a number of leases at once, and holds each for `hold` milliseconds. */
  readonly leases?: {
    readonly identity: string;
    readonly count: number;
    readonly hold: number;
    readonly slots?: number;
    readonly ttl?: number;
    readonly maxWait?: number;
  };
}

/** An event that a host prints. */
export interface FleetEvent {
  readonly reported?: string;
  readonly reason?: string;
  /** The number of holders of a lease, of all processes. */
  readonly holders?: number;
}

const SCRIPT = fileURLToPath(new URL("fleet-process.mjs", import.meta.url));

/** A process, which is killed when the test ends. */
export class FleetProcess {
  readonly events: FleetEvent[] = [];
  readonly #child;
  readonly #ended: Promise<unknown[]>;

  constructor(job: FleetJob) {
    const args = ["--unhandled-rejections=strict", SCRIPT, JSON.stringify(job)];
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#ended = once(this.#child, "close");
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      this.events.push(JSON.parse(line));
    });
    onTestFinished(() => this.kill());
  }

  untilEvents(count: number): Promise<void> {
    return until(`${count} events`, () => this.events.length >= count);
  }

  /** Adds an image to its cache. */
  fill(digest: string): void {
    this.#child.stdin.write(`${digest}\n`);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  /** Waits until it ends by itself. */
  async ended(): Promise<void> {
    const [code, signal] = await this.#ended;
    if (code !== 0) throw new Error(`expected a process to end well, found ${code ?? signal}`);
  }
}
