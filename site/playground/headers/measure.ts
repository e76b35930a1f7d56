/** Times stripping beside what people write themselves, in this browser. */
import { HeaderStripper } from "hedgerow";
import { pause } from "../shared/pause.js";

/** How often each strips the message. */
export const REPETITIONS = 100_000;

const ROUNDS = 20;

type Strip = (fields: readonly string[]) => string[];

/** Returns the rivals by name. Each does the same, but for fields that `Connection` nominates. */
function rivals(rules: readonly string[]): Record<string, Strip> {
  const stripper = new HeaderStripper(rules);
  const lower = rules.map((rule) => rule.toLowerCase());
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
    "Set and startsWith": (fields) => without(fields, matches),
    RegExp: (fields) => without(fields, (name) => pattern.test(name)),
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
 * Returns the nanoseconds that each takes for the message, the mean of all repetitions. They take turns.
 *
 * @param onProgress called with the share that is done, from 0 to 1
 */
export async function measure(
  rules: readonly string[],
  fields: readonly string[],
  onProgress: (share: number) => void,
): Promise<Record<string, number>> {
  const all = Object.entries(rivals(rules));
  const times = Object.fromEntries(all.map(([name]) => [name, 0]));
  let total = 0;
  // The first round lets the engine compile.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, strip] of all) {
      const begun = performance.now();
      for (let count = 0; count < REPETITIONS / ROUNDS; count += 1) total += strip(fields).length;
      if (round > 0) times[name]! += performance.now() - begun;
    }
    onProgress(round / ROUNDS);
    await pause();
  }
  // Uses the results, so that no engine leaves the work out.
  if (total < 0) throw new Error("unreachable");
  return Object.fromEntries(all.map(([name]) => [name, (times[name]! * 1e6) / REPETITIONS]));
}
