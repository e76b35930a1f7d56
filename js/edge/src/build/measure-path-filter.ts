import { measure } from "../../wasm/build.js";
import { wrongType } from "../error.js";
import { PathFilter } from "../paths/path-filter.js";
import { instantiateBuild } from "./module.js";

/** What a filter is like. */
export interface PathFilterMeasures {
  /** How many of its bits are set. */
  bitsSet: number;
  /** The share of random paths that it is expected to have though they are not in it. */
  falsePositiveRate: number;
}

/**
 * Counts the bits of a filter that are set, and says what rate of false positives to expect of it, by
 * the model that the sizes are chosen by.
 *
 * @throws {HedgerowError} as `PathFilter.parse` does; `ERR_ARGUMENT` for what is not a `Uint8Array`
 */
export function measurePathFilter(file: Uint8Array): PathFilterMeasures {
  if (!(file instanceof Uint8Array)) throw wrongType("a Uint8Array", file);
  PathFilter.parse(file).free();
  instantiateBuild();
  const [bitsSet, falsePositiveRate] = measure(file) as unknown as [number, number];
  return { bitsSet, falsePositiveRate };
}
