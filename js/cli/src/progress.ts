/** Progress on a terminal: one line on standard error, with a spinner and a bar. */
import type { Progress } from "@hedgerow/snapshot";
import prettyBytes from "pretty-bytes";

import { interruptible } from "./interrupt.js";
import { grouped } from "./print.js";

/** Columns besides the text: the spinner, a space, and one more, so that the line does not wrap. */
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

/** The progress of an operation, or of a disk that is being filled. */
interface Shown extends Pick<Progress, "bytes" | "totalBytes" | "bytesPerSecond" | "retries"> {
  readonly phase: Progress["phase"] | "fill";
}

/** The label of each phase. */
const DOING: Readonly<Record<Shown["phase"], string>> = {
  compare: "comparing",
  create: "creating",
  fill: "filling",
  restore: "restoring",
  verify: "verifying",
};

/** Minimum width of the bar, in columns. */
const MIN_BAR = 4;

/** Maximum width of the bar, in columns. */
const MAX_BAR = 40;

/** Width of an amount such as `1.61 GB`. */
const AMOUNT = 7;

/** Width of a remaining time such as `59 min 59 s left`. */
const REMAINING = 16;

/** Longer estimates are not shown, in seconds: at the start and during a stall they are infinite. */
const MAX_ESTIMATE = 99 * 3600;

/**
 * Formats progress as one line, followed by the number of retries if there were any:
 * `restoring ███████░░░░░  58 %   930 MB of 1.61 GB   850 MB/s  1 s left`. Fields that do not fit into
 * `columns` are left out from the end. All fields but retries have a fixed width, which keeps the bar
 * from jumping.
 */
export function progressLine(progress: Shown, columns: number): string {
  const what = DOING[progress.phase];
  const share = progress.bytes < progress.totalBytes ? progress.bytes / progress.totalBytes : 1;
  const facts = [percent(share), amounts(progress), rate(progress), remaining(progress)];
  if (progress.retries > 0) facts.push(retries(progress));
  for (let count = facts.length; count > 0; count -= 1) {
    const text = facts.slice(0, count).join("  ");
    const room = columns - `${what}  ${text}`.length;
    if (room >= MIN_BAR) return `${what} ${bar(share, room)} ${text}`.trimEnd();
  }
  return what.slice(0, columns);
}

function bar(share: number, room: number): string {
  const length = Math.min(room, MAX_BAR);
  const full = Math.floor(share * length);
  return "█".repeat(full) + "░".repeat(length - full);
}

function percent(share: number): string {
  return `${String(Math.floor(100 * share)).padStart(3)} %`;
}

function amounts({ bytes, totalBytes }: Shown): string {
  return `${prettyBytes(bytes, { fixedWidth: AMOUNT })} of ${prettyBytes(totalBytes)}`;
}

function rate({ bytesPerSecond }: Shown): string {
  return `${prettyBytes(bytesPerSecond, { fixedWidth: AMOUNT })}/s`;
}

/** Formats the remaining time; once everything is written, the file is still being synced. */
function remaining({ phase, bytes, totalBytes, bytesPerSecond }: Shown): string {
  const seconds = (totalBytes - bytes) / bytesPerSecond;
  let text = "";
  if (bytes >= totalBytes) text = phase === "verify" ? "" : "syncing";
  else if (seconds < MAX_ESTIMATE) text = `${time(seconds)} left`;
  return text.padEnd(REMAINING);
}

function retries({ retries }: Shown): string {
  return retries === 1 ? "1 retry" : `${grouped(retries)} retries`;
}

/** Formats seconds: `12 s`, `2 min 5 s`, `1 h 12 min`. */
function time(seconds: number): string {
  const whole = Math.ceil(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes === 0) return `${whole} s`;
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min ${whole % 60} s` : `${hours} h ${minutes % 60} min`;
}

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
