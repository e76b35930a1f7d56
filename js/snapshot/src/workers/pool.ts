import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { SHARE_ENV, Worker } from "node:worker_threads";
import { type Checks, FUNCTION, integer, SIGNAL } from "../check.js";
import { messageOf, SnapshotError } from "../error.js";
import { emit } from "../events.js";
import type { Progress } from "../progress.js";
import { deserializeError, LOADED, type PoolMessage, type WorkerMessage } from "./serve.js";

/** Options of every function that reads or writes a whole snapshot. */
export interface WorkOptions {
  /** Aborts the operation: the promise is rejected with the signal's reason, and no file is left behind. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress ten times a second. An error that it throws ends the operation. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Number of worker threads, 1 to 256. Default: the number of available cores, or one for each 16 MiB to decode if that is
   * less.
   */
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

/**
 * The bytes that a worker should have to decode at least, unless the caller says how many workers there are: it takes as
 * long to start one.
 */
const MIN_BYTES = 2 ** 24;

/** Returns the number of worker threads for `parts` independent parts of `bytes` in all: more would be idle. */
export function workerCount(
  { workers }: WorkOptions,
  parts: number,
  bytes = Number.POSITIVE_INFINITY,
): number {
  const most = Math.min(availableParallelism(), MAX_WORKERS, Math.ceil(bytes / MIN_BYTES));
  return Math.max(1, Math.min(workers ?? most, parts));
}

/**
 * The size of a worker's young generation, in MiB. With V8's default, each worker would keep megabytes of dead objects,
 * and reuse their memory only when it has left the processor's caches.
 */
const YOUNG_GENERATION = 2;

/** The address space that V8 reserves for a worker, at most, in bytes. If it gets less, it ends the process. */
const WORKER_SPACE = 2 ** 30;

/** The niceness of workers in the background, which leave the processors to others. */
export const BACKGROUND = 10;

/** How long a worker waits for another pool, in milliseconds. To start one takes some 40 ms of processor time. */
const IDLE_TIME = 1000;

/** A task that was sent to a worker and has not been answered. */
interface PendingTask<Result> {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** What distinguishes pools: one can use the workers of another one of its kind. */
interface PoolKind {
  readonly script: string;
  readonly niceness: number;
}

/** A worker thread, and its pending tasks in the order in which they were sent. It serves one pool after the other. */
class PoolWorker {
  /** The workers that wait for another pool. */
  static readonly #idle = new Set<PoolWorker>();

  readonly #worker: Worker;
  readonly #pending: PendingTask<unknown>[] = [];
  readonly #loaded: Promise<void>;
  #ended: Promise<void> | undefined;
  #onFailure: (error: unknown) => void = () => {};
  #idleTimer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly script: string,
    /** A thread cannot lower it again. */
    private readonly niceness: number,
  ) {
    // A data: URL, because bundlers do not include files that are only referenced by path.
    const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
    this.#worker = new Worker(url, {
      // Do not inherit the process's flags: some are not allowed in workers.
      execArgv: [],
      // The variables may change from one job to the next.
      env: SHARE_ENV,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION },
    });
    this.#loaded = new Promise((resolve) => {
      this.#worker.once("message", () => resolve());
      this.#worker.once("exit", () => resolve());
    });
    this.#worker.on("message", (message: WorkerMessage<unknown>) => {
      if (message === LOADED) return;
      if ("event" in message) return emit(...message.event);
      const task = this.#pending.shift();
      if ("result" in message) task?.resolve(message.result);
      else task?.reject(deserializeError(message.failure));
    });
    const fail = (cause: unknown) => {
      const message = `a worker failed: ${messageOf(cause)}`;
      this.#onFailure(new SnapshotError("ERR_WORKER", message, { cause }));
    };
    this.#worker.on("error", fail);
    this.#worker.on("messageerror", fail);
    this.#worker.on("exit", (code) => fail(new Error(`it exited with code ${code}`)));
    if (niceness > 0) this.#send({ niceness });
  }

  /** Returns the workers that wait for another pool of the same kind. */
  static idle({ script, niceness }: PoolKind): PoolWorker[] {
    return [...PoolWorker.#idle].filter(
      (worker) => worker.script === script && worker.niceness === niceness,
    );
  }

  /** Returns a worker that begins a job of `data`: one that waits, or a new one. */
  static begin(kind: PoolKind, data: unknown, onFailure: (error: unknown) => void): PoolWorker {
    const worker = PoolWorker.idle(kind)[0] ?? new PoolWorker(kind.script, kind.niceness);
    PoolWorker.#idle.delete(worker);
    clearTimeout(worker.#idleTimer);
    worker.#worker.ref();
    worker.#onFailure = onFailure;
    worker.#send({ begin: data });
    return worker;
  }

  /** The number of pending tasks. */
  get load(): number {
    return this.#pending.length;
  }

  run<Result>(task: unknown): Promise<Result> {
    return new Promise<unknown>((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#send({ task });
    }) as Promise<Result>;
  }

  #send(message: PoolMessage<unknown, unknown>): void {
    this.#worker.postMessage(message);
  }

  /** Ends the job, and waits for another one. It does not keep the process alive. */
  wait(): void {
    this.#send({ end: true });
    this.#worker.unref();
    this.#onFailure = () => PoolWorker.#idle.delete(this);
    PoolWorker.#idle.add(this);
    this.#idleTimer = setTimeout(() => {
      PoolWorker.#idle.delete(this);
      void this.end(undefined);
    }, IDLE_TIME).unref();
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
  readonly #workers: PoolWorker[] = [];
  readonly #abort = () => void this.end(this.signal?.reason);
  #reason: unknown;
  #isEnded = false;

  /**
   * @param script the script of each worker
   * @param data the data of the job of each worker
   * @param signal ends the pool when it is aborted
   * @param niceness of the workers, 0 to 19
   */
  constructor(
    private readonly script: string,
    count: number,
    private readonly data: unknown,
    private readonly signal?: AbortSignal,
    private readonly niceness = 0,
  ) {
    signal?.throwIfAborted();
    signal?.addEventListener("abort", this.#abort, { once: true });
    this.grow(count);
  }

  /** Begins jobs until there are `count` workers. */
  grow(count: number): void {
    const onFailure = (error: unknown) => void this.end(error);
    const missing = count - this.size - PoolWorker.idle(this.#kind).length;
    if (missing > 0 && addressSpaceLeft() < missing * WORKER_SPACE) {
      const message = `cannot start ${missing} of ${count} workers: the limit of virtual memory (ulimit -v) is too low`;
      onFailure(new SnapshotError("ERR_WORKER", message));
      return;
    }
    try {
      while (this.size < count && !this.#isEnded) {
        this.#workers.push(PoolWorker.begin(this.#kind, this.data, onFailure));
      }
    } catch (cause) {
      // The system has reached its limit of threads. End the running workers; every task then fails with this error.
      const message = `cannot start worker ${this.size + 1} of ${count}: ${messageOf(cause)}`;
      onFailure(new SnapshotError("ERR_WORKER", message, { cause }));
    }
  }

  get #kind(): PoolKind {
    return { script: this.script, niceness: this.niceness };
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
    return idlest.run<Result>(task);
  }

  /** Runs a task on every worker, and waits for all of them. */
  async runOnAll(task: Task): Promise<void> {
    this.throwIfEnded();
    await Promise.all(this.#workers.map((worker) => worker.run<Result>(task)));
  }

  /** Runs a shared task on every worker, and waits until the first one finds nothing left to do. */
  async runUntilAny(task: Task): Promise<void> {
    this.throwIfEnded();
    await Promise.race(this.#workers.map((worker) => worker.run<Result>(task)));
  }

  /**
   * Ends the pool, and resolves when none of its tasks runs any more. Pending tasks are rejected with the `reason` of the
   * first call. Without one, workers that have no task wait for another pool; all others are terminated.
   */
  async end(reason?: unknown): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#reason = reason ?? new SnapshotError("ERR_WORKER", "the worker pool was closed");
      this.signal?.removeEventListener("abort", this.#abort);
      if (reason === undefined) this.#releaseIdle();
    }
    await Promise.all(this.#workers.map((worker) => worker.end(this.#reason)));
  }

  /** Lets the workers without a task wait for another pool. */
  #releaseIdle(): void {
    for (const worker of this.#workers.splice(0)) {
      if (worker.load === 0) worker.wait();
      else this.#workers.push(worker);
    }
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
