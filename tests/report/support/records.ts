/** Records that were never measured, for what a report has to say of them. */
import { figuresOf, readRecords } from "../../../bench/report/figures.mjs";

type Kept = ReturnType<typeof readRecords>[number];

/** All that are kept. */
export const kept = readRecords([]);

/** A record with results, which a test changes. */
export function record(results: Kept["results"], rest: Partial<Kept> = {}): Kept {
  const about = { file: "trial.json", machine: "a machine", date: "2026-11-22", versions: {} };
  return { ...about, results, ...rest };
}

/** The records that are kept, with each result as a test wants it, or without it. */
export function changed(change: (result: Kept["results"][number]) => Kept["results"]) {
  return figuresOf(kept.map((one) => ({ ...one, results: one.results.flatMap(change) })));
}

/** One result, of a native suite unless it is said. */
export function result(
  method: string,
  median: number,
  rest: Partial<Kept["results"][number]> = {},
) {
  const at = { suite: "headers-clear", workload: "real", unit: "ns" };
  return { ...at, method, median, min: median, max: median, ...rest };
}
