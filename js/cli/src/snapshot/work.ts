import type { Progress } from "@hedgerow/snapshot";

import { interruptible } from "../interrupt.js";
import { spinnerColumns, startSpinner } from "../progress/spinner.js";
import { DOING, progressLine } from "./progress-line.js";

/** Options that every long operation takes. */
interface Hooks {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** Runs work on a snapshot with a progress line on a terminal. A signal aborts it cleanly. */
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
