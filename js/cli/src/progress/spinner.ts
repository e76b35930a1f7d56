/** Columns besides the text: the spinner, a space, and one that keeps the line from wrapping. */
const COLUMNS_BESIDE_TEXT = 3;

/** A status line. */
export interface Spinner {
  text: string;
  stop(): void;
}

/** Starts a status line on standard error, if it is a terminal. */
export async function startSpinner(text: string): Promise<Spinner> {
  // Only terminals have columns; without any, ora would clear lines in an endless loop.
  if (!process.stderr.columns) return { text, stop() {} };
  const { default: ora } = await import("ora");
  return ora({
    text,
    stream: process.stderr,
    color: process.env.NO_COLOR ? false : "cyan",
    // Standard input may be a source, and Ctrl-C must stay a signal.
    discardStdin: false,
  }).start();
}

/** Returns the columns available for the text beside the spinner. */
export function spinnerColumns(): number {
  return Math.max(0, (process.stderr.columns ?? 0) - COLUMNS_BESIDE_TEXT);
}
