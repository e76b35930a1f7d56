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

/**
 * Runs the tasks that the pool sends to this worker, and answers them in order. Answers carry no id: while an
 * asynchronous task runs, the pool must not send another one.
 *
 * @param work returns the result of a task, and the objects to transfer instead of copying
 */
export function serve<Task, Result>(
  work: (
    task: Task,
    emit: (event: EmittedEvent) => void,
  ) => [Result, Transferable[]] | Promise<[Result, Transferable[]]>,
): void {
  const send = (message: WorkerMessage<Result>, transferred: Transferable[] = []) =>
    parentPort?.postMessage(message, transferred);
  const emit = (event: EmittedEvent) => send({ event });
  parentPort?.on("message", async (task: Task) => {
    try {
      const [result, transferred] = await work(task, emit);
      send({ result }, transferred);
    } catch (error) {
      if (error instanceof SnapshotError) return send({ failure: serializeError(error) });
      // Any other error is a bug: it ends the worker, and the pool reports it. Rethrow outside the promise,
      // because `--unhandled-rejections=none` would ignore a rejection.
      setImmediate(() => {
        throw error;
      });
    }
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
