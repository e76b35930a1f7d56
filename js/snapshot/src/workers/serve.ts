import { parentPort, type Transferable } from "node:worker_threads";

import { SnapshotError, type SnapshotErrorCode } from "../error.js";

/** What a worker says when it is there. */
export const LOADED = "loaded";

/** What a worker says: that it is there, and then an answer to each task. */
export type Answer<Result> =
  | typeof LOADED
  | { readonly result: Result }
  | { readonly failure: Failure };

/** An error as it crosses between threads, which only keep what is plain. */
export interface Failure {
  readonly code: SnapshotErrorCode;
  readonly message: string;
  readonly field: string | undefined;
  readonly offset: number | undefined;
  readonly cause: unknown;
  /** What the system said beside the message of the cause, which an error does not keep. */
  readonly details: object | undefined;
}

/**
 * Answers the tasks that this thread is sent, one after the other.
 *
 * @param work returns the result, and what of it is handed over and not copied
 */
export function serve<Task, Result>(work: (task: Task) => [Result, Transferable[]]): void {
  parentPort?.on("message", (task: Task) => {
    try {
      const [result, handedOver] = work(task);
      parentPort?.postMessage({ result } satisfies Answer<Result>, handedOver);
    } catch (error) {
      // What is no error of this package ends the thread, which the pool tells of.
      if (!(error instanceof SnapshotError)) throw error;
      const { code, message, field, offset, cause } = error;
      const details = cause instanceof Error ? { ...cause } : undefined;
      const failure: Failure = { code, message, field, offset, cause, details };
      parentPort?.postMessage({ failure } satisfies Answer<Result>);
    }
  });
  parentPort?.postMessage(LOADED satisfies Answer<Result>);
}

/** The error that a failure was. */
export function errorOfFailure(failure: Failure): SnapshotError {
  const { code, message, field, offset, cause, details } = failure;
  if (cause instanceof Error) Object.assign(cause, details);
  const place = field === undefined || offset === undefined ? {} : { place: { field, offset } };
  return new SnapshotError(code, message, { ...place, cause });
}
