import { parentPort, type Transferable } from "node:worker_threads";

import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import type { EmittedEvent } from "../events.js";

/** What a worker says when it is there. */
export const LOADED = "loaded";

/** What a worker says: that it is there, and then an answer to each task, and what it tells meanwhile. */
export type Answer<Result> =
  | typeof LOADED
  | { readonly told: EmittedEvent }
  | { readonly result: Result }
  | { readonly failure: Failure };

/** An error as it crosses between threads, which only keep what is plain. */
export interface Failure {
  readonly code: SnapshotErrorCode;
  readonly message: string;
  readonly field: string | undefined;
  readonly offset: number | undefined;
  readonly status: number | undefined;
  readonly cause: unknown;
  /** What the system said beside the message of the cause, which an error does not keep. */
  readonly details: object | undefined;
}

/**
 * Answers the tasks that this thread is sent. They are sent one after the other, where they take time.
 *
 * @param work returns the result, and what of it is handed over and not copied
 */
export function serve<Task, Result>(
  work: (
    task: Task,
    emit: (told: EmittedEvent) => void,
  ) => [Result, Transferable[]] | Promise<[Result, Transferable[]]>,
): void {
  const emit = (told: EmittedEvent) => parentPort?.postMessage({ told } satisfies Answer<Result>);
  parentPort?.on("message", async (task: Task) => {
    try {
      const [result, handedOver] = await work(task, emit);
      parentPort?.postMessage({ result } satisfies Answer<Result>, handedOver);
    } catch (error) {
      if (error instanceof SnapshotError) {
        parentPort?.postMessage({ failure: failureOf(error) } satisfies Answer<Result>);
        return;
      }
      // What is no error of this package ends the thread, which the pool tells of. A promise that is
      // rejected might not, as Node can be told.
      setImmediate(() => {
        throw error;
      });
    }
  });
  parentPort?.postMessage(LOADED satisfies Answer<Result>);
}

function failureOf({ code, message, field, offset, status, cause }: SnapshotError): Failure {
  const details = cause instanceof Error ? { ...cause } : undefined;
  return { code, message, field, offset, status, cause, details };
}

/** The error that a failure was. */
export function errorOfFailure(failure: Failure): SnapshotError {
  const { code, message, field, offset, status, cause, details } = failure;
  if (cause instanceof Error) Object.assign(cause, details);
  const place = field === undefined || offset === undefined ? undefined : { field, offset };
  return new SnapshotError(code, message, { place, cause, status });
}
