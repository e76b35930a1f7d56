import { Worker } from "node:worker_threads";

import { messageOf, SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { type Answer, errorOfFailure, LOADED } from "./serve.js";

interface Waiting<Result> {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * How much a thread allocates until V8 looks what of it is still in use, in MiB. By default there would be
 * tens of megabytes of buffers that came from sockets, which are cold when they are used again.
 */
const YOUNG_GENERATION = 2;

/** A thread, and the tasks that it has not answered yet, in order. */
class Thread<Task, Result> {
  readonly #worker: Worker;
  readonly #waiting: Waiting<Result>[] = [];
  readonly #loaded: Promise<void>;
  #ended: Promise<void> | undefined;

  constructor(script: string, data: unknown, fail: (error: unknown) => void) {
    // Not a file, which would not be where it was once a bundler has been at this one.
    const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
    this.#worker = new Worker(url, {
      workerData: data,
      // What Node was started with is for whoever started it: some of it no thread takes.
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION },
    });
    this.#loaded = new Promise((resolve) => {
      this.#worker.once("message", () => resolve());
      this.#worker.once("exit", () => resolve());
    });
    this.#worker.on("message", (answer: Answer<Result>) => {
      if (answer === LOADED) return;
      if ("told" in answer) return emit(...answer.told);
      const waiting = this.#waiting.shift();
      if ("result" in answer) waiting?.resolve(answer.result);
      else waiting?.reject(errorOfFailure(answer.failure));
    });
    const lost = (cause: unknown) => {
      const message = `a worker failed: ${messageOf(cause)}`;
      fail(new SnapshotError("ERR_WORKER", message, { cause }));
    };
    this.#worker.on("error", lost);
    this.#worker.on("messageerror", lost);
    this.#worker.on("exit", (code) => lost(new Error(`it ended with code ${code}`)));
  }

  get load(): number {
    return this.#waiting.length;
  }

  run(task: Task): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(task);
    });
  }

  /** Rejects what is not done, and ends the thread. */
  end(reason: unknown): Promise<void> {
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
    this.#ended ??= this.#terminate();
    return this.#ended;
  }

  /** Ends the thread, once it is loaded: before that, Node 20 would leave open what it is loading. */
  async #terminate(): Promise<void> {
    await this.#loaded;
    await this.#worker.terminate();
  }
}

/** Threads that share the work. */
export class WorkerPool<Task, Result> {
  readonly #threads: Thread<Task, Result>[] = [];
  #reason: unknown;
  #isEnded = false;

  constructor(
    private readonly script: string,
    count: number,
    private readonly data: unknown,
  ) {
    this.grow(count);
  }

  /** Has so many threads, if there are fewer. */
  grow(count: number): void {
    const fail = (error: unknown) => void this.end(error);
    try {
      while (this.size < count && !this.#isEnded) {
        this.#threads.push(new Thread(this.script, this.data, fail));
      }
    } catch (cause) {
      // The system has no more threads. Those that there are end, and whatever is to be done fails.
      const message = `cannot start worker ${this.size + 1} of ${count}: ${messageOf(cause)}`;
      fail(new SnapshotError("ERR_WORKER", message, { cause }));
    }
  }

  /** How many threads there are. */
  get size(): number {
    return this.#threads.length;
  }

  /** For work that the threads have no part in. */
  throwIfEnded(): void {
    if (this.#isEnded) throw this.#reason;
  }

  /** Has the thread with the fewest tasks do one more. */
  async run(task: Task): Promise<Result> {
    this.throwIfEnded();
    const idlest = this.#threads.reduce((a, b) => (b.load < a.load ? b : a));
    return idlest.run(task);
  }

  /** Has every thread do something, and waits for all. */
  async runOnAll(task: Task): Promise<void> {
    this.throwIfEnded();
    await Promise.all(this.#threads.map((thread) => thread.run(task)));
  }

  /** Has every thread do something, and waits for the first: what it did not do, others have done. */
  async runUntilAny(task: Task): Promise<void> {
    this.throwIfEnded();
    await Promise.race(this.#threads.map((thread) => thread.run(task)));
  }

  /**
   * Ends all threads: none runs any more when this is done. What they have not done is rejected with
   * the first `reason` that there is.
   */
  async end(reason: unknown): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#reason = reason;
    }
    await Promise.all(this.#threads.map((thread) => thread.end(this.#reason)));
  }
}

/**
 * Has `work` use `count` threads, which end with it, or when the signal says so.
 *
 * @param script what each thread runs
 * @param data what each thread begins with
 */
export async function withWorkers<Task, Result, T>(
  script: string,
  count: number,
  data: unknown,
  signal: AbortSignal | undefined,
  work: (pool: WorkerPool<Task, Result>) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const pool = new WorkerPool<Task, Result>(script, count, data);
  const abort = () => void pool.end(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await work(pool);
  } finally {
    signal?.removeEventListener("abort", abort);
    await pool.end(new SnapshotError("ERR_WORKER", "the work is done"));
  }
}
