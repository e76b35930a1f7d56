import type { Progress } from "@hedgerow/snapshot";

import { interruptible } from "../interrupt.js";
import { spinnerColumns, startSpinner } from "../progress/spinner.js";
import { DOING, progressLine } from "./progress-line.js";

/** What work is told: what aborts it, and who wants to know how far it is. */
interface Hooks {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/**
 * Does work on a snapshot, and shows on standard error how far it is, if that is a terminal. A signal
 * ends it, and leaves nothing behind.
 */
export function doWork<T>(
  phase: Progress["phase"],
  work: (hooks: Hooks) => Promise<T>,
): Promise<T> {
  return interruptible(async (signal) => {
    const spinner = await startSpinner(DOING[phase]);
    const onProgress = (progress: Progress) => {
      spinner.text = progressLine(progress, spinnerColumns());
    };
    try {
      return await work({ signal, onProgress });
    } finally {
      spinner.stop();
    }
  });
}
