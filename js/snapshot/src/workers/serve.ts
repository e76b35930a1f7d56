import { setPriority } from "node:os";
import { parentPort, type Transferable } from "node:worker_threads";

import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import type { EmittedEvent } from "../events.js";

/** The first message of a worker: its script is loaded. */
export const LOADED = "loaded";

/** A message from a worker to its pool: {@link LOADED}, an event, or the outcome of the oldest pending task. */
export type WorkerMessage<Result> =
  | typeof LOADED
  | { readonly event: EmittedEvent }
  | { readonly result: Result }
  | { readonly failure: WorkerFailure };

/** A {@link SnapshotError} in the form in which it crosses threads: structured clone drops its class and fields. */
export interface WorkerFailure {
  readonly code: SnapshotErrorCode;
  readonly message: string;
  readonly field: string | undefined;
  readonly offset: number | undefined;
  readonly status: number | undefined;
  readonly cause: unknown;
  /** The own properties of the cause, such as `errno`, which structured clone drops. */
  readonly details: object | undefined;
}

/** A message from a pool to its worker: its niceness, the data of a job, a task of the job, or the end of the job. */
export type PoolMessage<Data, Task> =
  | { readonly niceness: number }
  | { readonly begin: Data }
  | { readonly task: Task }
  | { readonly end: true };

/** What a worker does for one pool. */
export interface Job<Task, Result> {
  /** Returns the result of a task, and the objects to transfer instead of copying. */
  run(task: Task): [Result, Transferable[]] | Promise<[Result, Transferable[]]>;
  /** Frees the memory of the job. */
  free(): void;
}

/**
 * Runs one job after the other, and answers the tasks of each in order. Answers carry no id: while an asynchronous task
 * runs, the pool may send only a task that ends it.
 *
 * @param begin begins a job with the data of a pool
 */
export function serve<Data, Task, Result>(
  begin: (data: Data, emit: (event: EmittedEvent) => void) => Job<Task, Result>,
): void {
  const send = (message: WorkerMessage<Result>, transferred: Transferable[] = []) =>
    parentPort?.postMessage(message, transferred);
  const emit = (event: EmittedEvent) => send({ event });
  let job: Job<Task, Result> | undefined;
  const handle = async (message: PoolMessage<Data, Task>) => {
    if ("begin" in message) {
      job = begin(message.begin, emit);
    } else if ("niceness" in message) {
      // On Linux this is the priority of the thread.
      setPriority(message.niceness);
    } else if ("end" in message) {
      job?.free();
      job = undefined;
    } else {
      if (job === undefined) throw new Error("expected a job before its first task");
      try {
        const [result, transferred] = await job.run(message.task);
        send({ result }, transferred);
      } catch (error) {
        if (!(error instanceof SnapshotError)) throw error;
        send({ failure: serializeError(error) });
      }
    }
  };
  parentPort?.on("message", (message: PoolMessage<Data, Task>) => {
    handle(message).catch((error: unknown) => {
      // Any other error ends the worker, and the pool reports it. Throw outside the promise, because
      // `--unhandled-rejections=none` would ignore a rejection.
      setImmediate(() => {
        throw error;
      });
    });
  });
  send(LOADED);
}

function serializeError(error: SnapshotError): WorkerFailure {
  const { code, message, field, offset, status, cause } = error;
  const details = cause instanceof Error ? { ...cause } : undefined;
  return { code, message, field, offset, status, cause, details };
}

/** Rebuilds the error that a worker sent. */
export function deserializeError(failure: WorkerFailure): SnapshotError {
  const { code, message, field, offset, status, cause, details } = failure;
  if (cause instanceof Error) Object.assign(cause, details);
  return new SnapshotError(code, message, { field, offset, cause, status });
}
