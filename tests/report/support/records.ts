/** Records for tests of the report. */
import { figuresOf, readRecords } from "../../../bench/report/figures.mjs";

type Kept = ReturnType<typeof readRecords>[number];

/** The records of the repository. */
export const kept = readRecords([]);

/** Returns a record with these results. */
export function record(results: Kept["results"], rest: Partial<Kept> = {}): Kept {
  const about = { file: "trial.json", machine: "a machine", date: "2026-11-22", versions: {} };
  return { ...about, results, ...rest };
}

/** Returns the figures of the kept records with each result replaced or removed. */
export function changed(change: (result: Kept["results"][number]) => Kept["results"]) {
  return figuresOf(kept.map((one) => ({ ...one, results: one.results.flatMap(change) })));
}

/** Returns a result; by default of the suite `headers-clear`. */
export function result(
  method: string,
  median: number,
  rest: Partial<Kept["results"][number]> = {},
) {
  const at = { suite: "headers-clear", workload: "real", unit: "ns" };
  return { ...at, method, median, min: median, max: median, ...rest };
}
