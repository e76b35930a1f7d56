import type { Progress } from "@hedgerow/snapshot";
import prettyBytes from "pretty-bytes";

import { grouped } from "../print.js";

/** What is being done, in words. */
export const DOING: Readonly<Record<Progress["phase"], string>> = {
  create: "creating",
  restore: "restoring",
  verify: "verifying",
};

/** How many columns a bar has: one that is shorter says less than what else could be there. */
const [SHORTEST_BAR, LONGEST_BAR] = [4, 40];

/** How wide an amount is, such as `1.61 GB`, and what is left, such as `59 min 59 s left`. */
const [AMOUNT, REMAINING] = [7, 16];

/** How much time is worth telling, in seconds; at first, and when all stands still, there is no end. */
const FORESEEABLE = 99 * 3600;

/**
 * Progress as one line: `restoring ███████░░░░░  58 %   930 MB of 1.61 GB   850 MB/s  1 s left`, and how
 * much had to be tried again, if anything. What does not fit into so many columns is left out, from the
 * end. The bar stays as long as it is, until something is tried again.
 */
export function progressLine(progress: Progress, columns: number): string {
  const what = DOING[progress.phase];
  const share = progress.bytes < progress.totalBytes ? progress.bytes / progress.totalBytes : 1;
  const facts = [percent(share), amounts(progress), rate(progress), remaining(progress)];
  if (progress.retries > 0) facts.push(retries(progress));
  for (let count = facts.length; count > 0; count -= 1) {
    const text = facts.slice(0, count).join("  ");
    const room = columns - `${what}  ${text}`.length;
    if (room >= SHORTEST_BAR) return `${what} ${bar(share, room)} ${text}`.trimEnd();
  }
  return what.slice(0, columns);
}

function bar(share: number, room: number): string {
  const length = Math.min(room, LONGEST_BAR);
  const full = Math.floor(share * length);
  return "█".repeat(full) + "░".repeat(length - full);
}

function percent(share: number): string {
  return `${String(Math.floor(100 * share)).padStart(3)} %`;
}

function amounts({ bytes, totalBytes }: Progress): string {
  return `${prettyBytes(bytes, { fixedWidth: AMOUNT })} of ${prettyBytes(totalBytes)}`;
}

function rate({ bytesPerSecond }: Progress): string {
  return `${prettyBytes(bytesPerSecond, { fixedWidth: AMOUNT })}/s`;
}

/** The time that is left; when all is written, the system has yet to put it on the disk. */
function remaining({ phase, bytes, totalBytes, bytesPerSecond }: Progress): string {
  const seconds = (totalBytes - bytes) / bytesPerSecond;
  let text = "";
  if (bytes >= totalBytes) text = phase === "verify" ? "" : "syncing";
  else if (seconds < FORESEEABLE) text = `${time(seconds)} left`;
  return text.padEnd(REMAINING);
}

function retries({ retries }: Progress): string {
  return retries === 1 ? "1 retry" : `${grouped(retries)} retries`;
}

/** Seconds as people read them: `12 s`, `2 min 5 s`, `1 h 12 min`. */
function time(seconds: number): string {
  const whole = Math.ceil(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes === 0) return `${whole} s`;
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min ${whole % 60} s` : `${hours} h ${minutes % 60} min`;
}
