import ora, { type Ora } from "ora";

/** What a line takes beside its text: the spinner, a space, and one column so that it never wraps. */
const COLUMNS_BESIDE_TEXT = 3;

/** Starts a line on standard error that says what goes on, if it is a terminal. */
export function startSpinner(text: string): Ora {
  return ora({
    text,
    stream: process.stderr,
    color: process.env.NO_COLOR ? false : "cyan",
    // Only terminals have columns; with none of them, ora would clear lines without end.
    isSilent: !process.stderr.columns,
    // Standard input may be a source, and Ctrl-C has to be a signal.
    discardStdin: false,
  }).start();
}

/** How many columns the text beside a spinner may take. */
export function spinnerColumns(): number {
  return Math.max(0, (process.stderr.columns ?? 0) - COLUMNS_BESIDE_TEXT);
}
