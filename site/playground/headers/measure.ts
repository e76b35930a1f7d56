/** Times stripping beside what people write themselves, in this browser. */
import { HeaderStripper } from "hedgerow";
import { pause } from "../shared/pause.js";

/** How often each strips the message. */
export const REPETITIONS = 100_000;

/** How often each strips it before the next has its turn. */
const TURN = 2_000;

/** How long the page does nothing else, in milliseconds. */
const LONGEST_BLOCK = 50;

type Mode = "strip" | "keep";
type Strip = (fields: readonly string[]) => string[];

/** What an allow-list always keeps. */
const ESSENTIAL = ["connection", "content-length", "host", "transfer-encoding"];

/** Returns the rivals by name. None but Hedgerow strips the fields that `Connection` nominates. */
function rivals(
  rules: readonly string[],
  mode: Mode,
  stripper: HeaderStripper,
): Record<string, Strip> {
  const isKept = mode === "keep";
  const lower = [...rules.map((rule) => rule.toLowerCase()), ...(isKept ? ESSENTIAL : [])];
  const names = new Set(lower.filter((rule) => !rule.endsWith("*")));
  const prefixes = lower.filter((rule) => rule.endsWith("*")).map((rule) => rule.slice(0, -1));
  const matches = (name: string) => {
    const key = name.toLowerCase();
    return names.has(key) || prefixes.some((prefix) => key.startsWith(prefix));
  };
  const alternatives = lower.map((rule) =>
    rule.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\\\*$/, ".*"),
  );
  const pattern = new RegExp(`^(?:${alternatives.join("|")})$`, "i");
  return {
    Hedgerow: (fields) => stripper.stripRaw(fields),
    "Set and startsWith": (fields) => without(fields, (name) => matches(name) !== isKept),
    RegExp: (fields) => without(fields, (name) => pattern.test(name) !== isKept),
  };
}

function without(fields: readonly string[], isStripped: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] as string;
    if (!isStripped(name)) kept.push(name, fields[index + 1] as string);
  }
  return kept;
}

/**
 * Returns the nanoseconds that each takes to strip the fields of a message, the mean of all repetitions. They take
 * turns.
 *
 * @param onProgress called with the share that is done, from 0 to 1
 */
export async function measure(
  rules: readonly string[],
  mode: Mode,
  fields: readonly string[],
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  using stripper = new HeaderStripper(rules, { mode });
  const all = Object.entries(rivals(rules, mode, stripper));
  const times = new Map(all.map(([name]) => [name, 0]));
  let [total, paused] = [0, performance.now()];
  // The first turns let the engine compile.
  for (let done = -5 * TURN; done < REPETITIONS; done += TURN) {
    for (const [name, strip] of all) {
      const begun = performance.now();
      for (let count = 0; count < TURN; count += 1) total += strip(fields).length;
      const ended = performance.now();
      if (done >= 0) times.set(name, (times.get(name) ?? 0) + ended - begun);
      if (ended - paused < LONGEST_BLOCK) continue;
      onProgress(Math.max(0, done / REPETITIONS));
      await pause();
      signal.throwIfAborted();
      paused = performance.now();
    }
  }
  // Uses the results, so that no engine leaves the work out.
  if (total < 0) throw new Error("unreachable");
  return Object.fromEntries([...times].map(([name, time]) => [name, (time * 1e6) / REPETITIONS]));
}
