import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** Termination signals that a process can handle. */
export const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/**
 * Window in which repeated signals count as one, in milliseconds: npm and npx forward the signal that
 * the terminal already sent to the whole process group.
 */
const DEBOUNCE = 500;

/** How long to wait for the process's own signal to be delivered, in milliseconds. */
const DELIVERY = 1000;

/**
 * Runs work that a signal aborts. After the work has cleaned up, the process ends by that same signal,
 * so that the parent process sees it, unless the work failed for another reason: that is thrown. A second signal ends
 * the process immediately. If standard output is closed, the work is aborted too, and that error is thrown.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let received: NodeJS.Signals | undefined;
  const stopListening = () => {
    for (const signal of SIGNALS) process.off(signal, listen);
  };
  const listen = (signal: NodeJS.Signals) => {
    if (received !== undefined) return;
    received = signal;
    controller.abort();
    setTimeout(stopListening, DEBOUNCE).unref();
  };
  for (const signal of SIGNALS) process.on(signal, listen);
  const onClosed = (error: Error) => controller.abort(error);
  process.stdout.on("error", onClosed);
  let result: T | undefined;
  try {
    result = await work(controller.signal);
  } catch (error) {
    if (error !== controller.signal.reason) throw error;
  } finally {
    stopListening();
    process.stdout.off("error", onClosed);
  }
  if (received !== undefined) await endBy(received);
  controller.signal.throwIfAborted();
  return result as T;
}

/** Ends the process by a signal whose handlers were removed. */
async function endBy(signal: NodeJS.Signals): Promise<never> {
  process.kill(process.pid, signal);
  await delay(DELIVERY);
  process.exit(128 + constants.signals[signal]);
}
