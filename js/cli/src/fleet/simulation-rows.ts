import type { SimulationResult } from "@hedgerow/fleet/simulation";
import prettyBytes from "pretty-bytes";

import { grouped } from "../print.js";

/** Formats results as rows of a table, below their heads. */
export function rowsOf(results: readonly SimulationResult[]): string[][] {
  const cells = results.map(cellsOf);
  return [Object.keys(cells[0] ?? {}), ...cells.map((cell) => Object.values(cell))];
}

function cellsOf(result: SimulationResult): Record<string, string> {
  const { policy, hitRate, originBytes, originFetches, tierBytes, startTimes, flash } = result;
  return {
    policy,
    hits: percent(hitRate),
    load: result.runningBalance.toFixed(2),
    placements: result.placementBalance.toFixed(2),
    "from origin": prettyBytes(originBytes),
    fetches: grouped(originFetches),
    "from tier": prettyBytes(tierBytes),
    median: startTimes.median.toFixed(2),
    worst: startTimes.worst.toFixed(2),
    moved: percent(result.moved),
    ...(flash === undefined ? {} : flashCells(flash)),
  };
}

function flashCells({ originFetches, startTimes }: NonNullable<SimulationResult["flash"]>) {
  return { "flash fetches": grouped(originFetches), "flash worst": startTimes.worst.toFixed(2) };
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
