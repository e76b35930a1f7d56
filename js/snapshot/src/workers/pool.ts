import { Worker } from "node:worker_threads";

import { messageOf, SnapshotError } from "../error.js";
import { type Answer, errorOfFailure } from "./serve.js";

interface Waiting<Result> {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** A thread, and the tasks that it has not answered yet, in order. */
class Thread<Task, Result> {
  readonly #worker: Worker;
  readonly #waiting: Waiting<Result>[] = [];

  constructor(script: URL, data: unknown, fail: (error: unknown) => void) {
    this.#worker = new Worker(script, { workerData: data });
    this.#worker.on("message", (answer: Answer<Result>) => {
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

  async end(reason: unknown): Promise<void> {
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
    this.#worker.removeAllListeners();
    // What it still says while it ends is not heard, but must not go unheard as an error.
    this.#worker.on("error", () => {});
    await this.#worker.terminate();
  }
}

/** Threads that share the work. */
export class WorkerPool<Task, Result> {
  readonly #threads: Thread<Task, Result>[] = [];
  #reason: unknown;
  #isEnded = false;

  constructor(script: URL, count: number, data: unknown) {
    const fail = (error: unknown) => void this.end(error);
    try {
      while (this.size < count) this.#threads.push(new Thread(script, data, fail));
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

  /**
   * Ends all threads: none runs any more when this is done. What they have not done is rejected with
   * the `reason`.
   */
  async end(reason: unknown = new SnapshotError("ERR_WORKER", "the workers were ended")) {
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
 * @param data what each thread begins with
 */
export async function withWorkers<Task, Result, T>(
  script: URL,
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
    await pool.end();
  }
}
