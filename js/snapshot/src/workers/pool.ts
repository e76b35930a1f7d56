import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { type Checks, FUNCTION, integer, SIGNAL } from "../check.js";
import { messageOf, SnapshotError } from "../error.js";
import { emit } from "../events.js";
import type { Progress } from "../progress.js";
import { deserializeError, LOADED, type WorkerMessage } from "./serve.js";

/** Options of every function that reads or writes a whole snapshot. */
export interface WorkOptions {
  /** Aborts the operation: the promise is rejected with the signal's reason, and no file is left behind. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress ten times a second. An error that it throws ends the operation. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Number of worker threads, 1 to 256. Default: the number of available cores. */
  readonly workers?: number | undefined;
}

/** The maximum number of workers. */
const MAX_WORKERS = 256;

/** The checks of {@link WorkOptions}. */
export const WORK_CHECKS: Checks<WorkOptions> = {
  signal: SIGNAL,
  onProgress: FUNCTION,
  workers: integer(1, MAX_WORKERS),
};

/** Returns the number of worker threads for `parts` independent parts: more would be idle. */
export function workerCount({ workers }: WorkOptions, parts: number): number {
  return Math.max(1, Math.min(workers ?? Math.min(availableParallelism(), MAX_WORKERS), parts));
}

/**
 * The size of a worker's young generation, in MiB. With V8's default, each worker would keep megabytes of dead objects,
 * and reuse their memory only when it has left the processor's caches.
 */
const YOUNG_GENERATION = 2;

/** The address space that V8 reserves for a worker, at most, in bytes. If it gets less, it ends the process. */
const WORKER_SPACE = 2 ** 30;

/** A task that was sent to a worker and has not been answered. */
interface PendingTask<Result> {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** A worker thread, and its pending tasks in the order in which they were sent. */
class PoolWorker<Task, Result> {
  readonly #worker: Worker;
  readonly #pending: PendingTask<Result>[] = [];
  readonly #loaded: Promise<void>;
  #ended: Promise<void> | undefined;

  constructor(script: string, data: unknown, onFailure: (error: unknown) => void) {
    // A data: URL, because bundlers do not include files that are only referenced by path.
    const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
    this.#worker = new Worker(url, {
      workerData: data,
      // Do not inherit the process's flags: some are not allowed in workers.
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION },
    });
    this.#loaded = new Promise((resolve) => {
      this.#worker.once("message", () => resolve());
      this.#worker.once("exit", () => resolve());
    });
    this.#worker.on("message", (message: WorkerMessage<Result>) => {
      if (message === LOADED) return;
      if ("event" in message) return emit(...message.event);
      const task = this.#pending.shift();
      if ("result" in message) task?.resolve(message.result);
      else task?.reject(deserializeError(message.failure));
    });
    const fail = (cause: unknown) => {
      const message = `a worker failed: ${messageOf(cause)}`;
      onFailure(new SnapshotError("ERR_WORKER", message, { cause }));
    };
    this.#worker.on("error", fail);
    this.#worker.on("messageerror", fail);
    this.#worker.on("exit", (code) => fail(new Error(`it exited with code ${code}`)));
  }

  /** The number of pending tasks. */
  get load(): number {
    return this.#pending.length;
  }

  run(task: Task): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#worker.postMessage(task);
    });
  }

  /** Rejects pending tasks with `reason` and terminates the worker. */
  end(reason: unknown): Promise<void> {
    for (const { reject } of this.#pending.splice(0)) reject(reason);
    this.#ended ??= this.#terminate();
    return this.#ended;
  }

  /** Waits until the script is loaded: Node 20 leaks the file handles of a worker that is terminated earlier. */
  async #terminate(): Promise<void> {
    await this.#loaded;
    await this.#worker.terminate();
  }
}

/** A pool of workers that run the same script. */
export class WorkerPool<Task, Result> {
  readonly #workers: PoolWorker<Task, Result>[] = [];
  readonly #abort = () => void this.end(this.signal?.reason);
  #reason: unknown;
  #isEnded = false;

  /**
   * @param script the script of each worker
   * @param data the `workerData` of each worker
   * @param signal ends the pool when it is aborted
   */
  constructor(
    private readonly script: string,
    count: number,
    private readonly data: unknown,
    private readonly signal?: AbortSignal,
  ) {
    signal?.throwIfAborted();
    signal?.addEventListener("abort", this.#abort, { once: true });
    this.grow(count);
  }

  /** Starts workers until there are `count`. */
  grow(count: number): void {
    const onFailure = (error: unknown) => void this.end(error);
    const missing = count - this.size;
    if (missing > 0 && addressSpaceLeft() < missing * WORKER_SPACE) {
      const message = `cannot start ${missing} of ${count} workers: the limit of virtual memory (ulimit -v) is too low`;
      onFailure(new SnapshotError("ERR_WORKER", message));
      return;
    }
    try {
      while (this.size < count && !this.#isEnded) {
        this.#workers.push(new PoolWorker(this.script, this.data, onFailure));
      }
    } catch (cause) {
      // The system has reached its limit of threads. End the running workers; every task then fails with this error.
      const message = `cannot start worker ${this.size + 1} of ${count}: ${messageOf(cause)}`;
      onFailure(new SnapshotError("ERR_WORKER", message, { cause }));
    }
  }

  /** The number of workers. */
  get size(): number {
    return this.#workers.length;
  }

  /** Throws the reason for which the pool ended, if it did: for work that runs outside the pool. */
  throwIfEnded(): void {
    if (this.#isEnded) throw this.#reason;
  }

  /** Runs a task on the worker with the fewest pending tasks. */
  async run(task: Task): Promise<Result> {
    this.throwIfEnded();
    const idlest = this.#workers.reduce((a, b) => (b.load < a.load ? b : a));
    return idlest.run(task);
  }

  /** Runs a task on every worker, and waits for all of them. */
  async runOnAll(task: Task): Promise<void> {
    this.throwIfEnded();
    await Promise.all(this.#workers.map((worker) => worker.run(task)));
  }

  /** Runs a shared task on every worker, and waits until the first one finds nothing left to do. */
  async runUntilAny(task: Task): Promise<void> {
    this.throwIfEnded();
    await Promise.race(this.#workers.map((worker) => worker.run(task)));
  }

  /**
   * Terminates all workers, and resolves when none runs any more. Pending tasks are rejected with the `reason` of the
   * first call. Default: a {@link SnapshotError} with `ERR_WORKER`.
   */
  async end(
    reason: unknown = new SnapshotError("ERR_WORKER", "the worker pool was closed"),
  ): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#reason = reason;
      this.signal?.removeEventListener("abort", this.#abort);
    }
    await Promise.all(this.#workers.map((worker) => worker.end(this.#reason)));
  }
}

/**
 * Returns how many bytes of address space the limit of the system (`ulimit -v`) leaves this process; `Infinity` without a
 * limit, and where the system does not say.
 */
function addressSpaceLeft(): number {
  try {
    const of = (name: string) => readFileSync(`/proc/self/${name}`, "utf8");
    const [, limit] = /^Max address space +(\d+)/m.exec(of("limits")) ?? [];
    const [, used] = /^VmSize:\s+(\d+) kB/m.exec(of("status")) ?? [];
    return limit && used ? Number(limit) - Number(used) * 1024 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
