/** What a line takes beside its text: the spinner, a space, and one column so that it never wraps. */
const COLUMNS_BESIDE_TEXT = 3;

/** A line that says what goes on. */
export interface Spinner {
  text: string;
  stop(): void;
}

/** Starts a line on standard error, if it is a terminal. */
export async function startSpinner(text: string): Promise<Spinner> {
  // Only terminals have columns; with none of them, ora would clear lines without end.
  if (!process.stderr.columns) return { text, stop() {} };
  const { default: ora } = await import("ora");
  return ora({
    text,
    stream: process.stderr,
    color: process.env.NO_COLOR ? false : "cyan",
    // Standard input may be a source, and Ctrl-C has to be a signal.
    discardStdin: false,
  }).start();
}

/** How many columns the text beside a spinner may take. */
export function spinnerColumns(): number {
  return Math.max(0, (process.stderr.columns ?? 0) - COLUMNS_BESIDE_TEXT);
}
