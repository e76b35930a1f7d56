/** Runs caches in separate processes, which take commands and may be killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import type { CacheOptions, GetOptions, SnapshotErrorCode } from "@hedgerow/snapshot";
import { onTestFinished } from "vitest";

/** The cache that a process opens. */
export interface CacheOpening {
  readonly directory: string;
  readonly options: CacheOptions;
}

/** A command to a process. */
export type Command = GetCommand | ChurnCommand;

/** Gets one image many times at once. */
export interface GetCommand {
  readonly do: "get";
  readonly source: string;
  readonly options: Omit<GetOptions, "signal" | "onProgress">;
  readonly times: number;
}

/** Uses a cache at random, for a number of steps or until the process ends. */
export interface ChurnCommand {
  readonly do: "churn";
  readonly samples: readonly ChurnSample[];
  readonly seed: number;
  readonly steps?: number;
  /** The activities, of which each step takes one at random. Repeat one to make it more frequent. */
  readonly kinds: readonly ChurnKind[];
  /** The maximum number of images in use, for equal shares of the steps. */
  readonly held: readonly number[];
}

/** "shrink" prunes to half of the limit. */
export type ChurnKind = "get" | "release" | "delete" | "shrink" | "clear" | "verify" | "reopen";

/** A snapshot to use. */
export interface ChurnSample {
  readonly snapshot: string;
  readonly digest: string;
  /** The SHA-256 of the image. */
  readonly sum: string;
}

/** An image that a process got. */
export interface GotImage {
  readonly hit: boolean;
  readonly path: string;
  /** The identity of its file. */
  readonly file: string;
  /** The SHA-256 of its content. */
  readonly sum: string;
}

export interface GotError {
  readonly code: SnapshotErrorCode;
  readonly message: string;
  readonly status?: number;
}

/** The result of {@link GetCommand}. */
export interface GotAll {
  readonly images: readonly GotImage[];
  readonly errors: readonly GotError[];
}

/** An image that was in use or being restored at most from `from` to `to`, in milliseconds. */
export interface Use {
  readonly digest: string;
  readonly from: number;
  readonly to: number;
}

/** The result of {@link ChurnCommand}. */
export interface Churned {
  readonly hits: number;
  readonly misses: number;
  readonly uses: readonly Use[];
}

/** A line that a process writes: its current activity, or the result of a command. */
export type Line = { readonly activity: string } | { readonly answer: GotAll | Churned };

/** How a process ended. */
interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const SCRIPT = fileURLToPath(new URL("cache-job.mjs", import.meta.url));

/** A process with an open cache. It is killed when the test ends. */
export class CacheProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  readonly #activities: string[] = [];
  /** The listeners for lines. */
  readonly #readers = new Set<(line: Line) => void>();

  private constructor(opening: CacheOpening) {
    const args = ["--unhandled-rejections=strict", SCRIPT, JSON.stringify(opening)];
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#ended = once(this.#child, "close").then(([code, signal]) => ({ code, signal }));
    // The process may be killed before it reads.
    this.#child.stdin?.on("error", () => {});
    createInterface({ input: this.#child.stdout! }).on("line", (text) => {
      const line = JSON.parse(text) as Line;
      if ("activity" in line) this.#activities.push(line.activity);
      for (const reader of this.#readers) reader(line);
    });
    onTestFinished(() => {
      this.#child.kill("SIGKILL");
    });
  }

  /** Starts a process. It reports "open" when it begins to open its cache, and "ready" when it has. */
  static start(opening: CacheOpening): CacheProcess {
    return new CacheProcess(opening);
  }

  /** All activities that it has reported. */
  get activities(): readonly string[] {
    return this.#activities;
  }

  /** Waits until it has reported an activity. */
  async untilReported(activity: string): Promise<void> {
    if (!this.#activities.includes(activity)) {
      await this.#read((line) =>
        "activity" in line && line.activity === activity ? true : undefined,
      );
    }
  }

  /** Makes it get images. */
  get(command: Omit<GetCommand, "do">): Promise<GotAll> {
    return this.#do<GotAll>({ do: "get", ...command });
  }

  /** Makes it use its cache at random. */
  churn(command: Omit<ChurnCommand, "do">): Promise<Churned> {
    return this.#do<Churned>({ do: "churn", ...command });
  }

  /** Stops all of its threads until it is killed. */
  stop(): void {
    this.#child.kill("SIGSTOP");
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  /** Makes it close its cache and end. Throws unless it ends by itself with code 0. */
  async end(): Promise<void> {
    this.#child.stdin?.end();
    const { code, signal } = await this.#ended;
    if (code !== 0) throw new Error(`expected a process to end well, found ${code ?? signal}`);
  }

  #do<T>(command: Command): Promise<T> {
    const answer = this.#read((line) => ("answer" in line ? (line.answer as T) : undefined));
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
    return answer;
  }

  /** Returns what `find` finds in a later line. */
  #read<T>(find: (line: Line) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const reader = (line: Line) => {
        const found = find(line);
        if (found === undefined) return;
        this.#readers.delete(reader);
        resolve(found);
      };
      this.#readers.add(reader);
      void this.#ended.then(({ code, signal }) => {
        this.#readers.delete(reader);
        reject(new Error(`expected an answer, found that the process ended: ${code ?? signal}`));
      });
    });
  }
}
