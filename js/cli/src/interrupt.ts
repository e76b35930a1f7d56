import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** What ends the process from outside, and can be heard. */
export const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/**
 * How long a signal may come again and still be the same one, in milliseconds: npm and npx hand on the
 * one that the terminal sends to all of them.
 */
const ECHO = 500;

/** How long a signal may take from the system back to this process, in milliseconds. */
const DELIVERY = 1000;

/**
 * Does work that a signal aborts. When the work has tidied up after itself, the process ends by that
 * signal, so that whoever started it knows. Another signal ends it at once.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let heard: NodeJS.Signals | undefined;
  const stopListening = () => {
    for (const signal of SIGNALS) process.off(signal, listen);
  };
  const listen = (signal: NodeJS.Signals) => {
    if (heard !== undefined) return;
    heard = signal;
    controller.abort();
    setTimeout(stopListening, ECHO).unref();
  };
  for (const signal of SIGNALS) process.on(signal, listen);
  try {
    return await work(controller.signal);
  } finally {
    stopListening();
    if (heard !== undefined) await endBy(heard);
  }
}

/** Ends the process by a signal that nobody listens to any more. */
async function endBy(signal: NodeJS.Signals): Promise<never> {
  process.kill(process.pid, signal);
  await delay(DELIVERY);
  process.exit(128 + constants.signals[signal]);
}
