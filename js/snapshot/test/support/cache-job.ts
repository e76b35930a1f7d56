/** Caches in processes of their own, which do what they are told, and may be killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import type { CacheOptions, GetOptions, SnapshotErrorCode } from "@hedgerow/snapshot";
import { onTestFinished } from "vitest";

/** Which cache a process opens. */
export interface CacheOpening {
  readonly directory: string;
  readonly options: CacheOptions;
}

/** What a process is told to do with its cache. */
export type Command = GetCommand | ChurnCommand;

/** Getting one image many times at once. */
export interface GetCommand {
  readonly do: "get";
  readonly source: string;
  readonly options: Omit<GetOptions, "signal" | "onProgress">;
  readonly times: number;
}

/** Using a cache at random, over and over: until it is ended or killed, unless `steps` says how often. */
export interface ChurnCommand {
  readonly do: "churn";
  readonly samples: readonly ChurnSample[];
  readonly seed: number;
  readonly steps?: number;
  /** What is done, one at random for each step. What is there twice is done twice as often. */
  readonly kinds: readonly ChurnKind[];
  /** How many images are in use at most, for equal shares of the steps. */
  readonly held: readonly number[];
}

/** All are what they are called. "shrink" prunes to half of what there may be. */
export type ChurnKind = "get" | "release" | "delete" | "shrink" | "clear" | "verify" | "reopen";

/** What images are got of. */
export interface ChurnSample {
  readonly snapshot: string;
  readonly digest: string;
  /** The SHA-256 of the image. */
  readonly sum: string;
}

/** What came of getting an image. */
export interface GotImage {
  readonly hit: boolean;
  readonly path: string;
  /** What tells its file from all others. */
  readonly file: string;
  /** The SHA-256 of it. */
  readonly sum: string;
}

export interface GotError {
  readonly code: SnapshotErrorCode;
  readonly message: string;
  readonly status?: number;
}

/** What came of getting some: of each of them, one of the two. */
export interface GotAll {
  readonly images: readonly GotImage[];
  readonly errors: readonly GotError[];
}

/** An image that was in use, or on its way: at the most from `from` to `to`, in milliseconds of the system's clock. */
export interface Use {
  readonly digest: string;
  readonly from: number;
  readonly to: number;
}

/** What came of using a cache at random. */
export interface Churned {
  readonly hits: number;
  readonly misses: number;
  readonly uses: readonly Use[];
}

/** What a process writes: what it is at, or what came of what it was told. */
export type Line = { readonly told: string } | { readonly answer: GotAll | Churned };

/** How a process ended. */
interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const SCRIPT = fileURLToPath(new URL("cache-job.mjs", import.meta.url));

/** A process that has a cache open, until the test is over. */
export class CacheProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  readonly #told: string[] = [];
  /** Who is to know of each line. */
  readonly #readers = new Set<(line: Line) => void>();

  private constructor(opening: CacheOpening) {
    const args = ["--unhandled-rejections=strict", SCRIPT, JSON.stringify(opening)];
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#ended = once(this.#child, "close").then(([code, signal]) => ({ code, signal }));
    // It may be killed before it reads.
    this.#child.stdin?.on("error", () => {});
    createInterface({ input: this.#child.stdout! }).on("line", (text) => {
      const line = JSON.parse(text) as Line;
      if ("told" in line) this.#told.push(line.told);
      for (const reader of this.#readers) reader(line);
    });
    onTestFinished(() => {
      this.#child.kill("SIGKILL");
    });
  }

  /** Starts one. It says "open" when it begins to open its cache, and "ready" when it has. */
  static start(opening: CacheOpening): CacheProcess {
    return new CacheProcess(opening);
  }

  /** All that it said it is at. */
  get told(): readonly string[] {
    return this.#told;
  }

  /** Waits until it has said something. */
  async toTell(word: string): Promise<void> {
    if (!this.#told.includes(word)) {
      await this.#read((line) => ("told" in line && line.told === word ? true : undefined));
    }
  }

  /** Has it get images. */
  get(command: Omit<GetCommand, "do">): Promise<GotAll> {
    return this.#do<GotAll>({ do: "get", ...command });
  }

  /** Has it use its cache at random. */
  churn(command: Omit<ChurnCommand, "do">): Promise<Churned> {
    return this.#do<Churned>({ do: "churn", ...command });
  }

  /** Has it do nothing more, in any of its threads, until it is killed. */
  stop(): void {
    this.#child.kill("SIGSTOP");
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  /** Has it close its cache and end, as it must by itself, and well. */
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

  /** What `find` finds in a line that is yet to come. */
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
