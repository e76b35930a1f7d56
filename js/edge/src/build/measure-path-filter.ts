import { measure } from "../../wasm/build.js";
import { wrongType } from "../error.js";
import { PathFilter } from "../paths/path-filter.js";
import { instantiateBuild } from "./module.js";

/** Measurements of a path filter. */
export interface PathFilterMeasures {
  /** Number of bits set. */
  bitsSet: number;
  /**
   * Expected false-positive rate: the share of absent paths reported as present, from 0 to 1. That of a filter
   * of the kind `"fuse"` is 2^-24.
   */
  falsePositiveRate: number;
}

/**
 * Counts the set bits of a filter and estimates its false-positive rate.
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` if `file` is not a `Uint8Array`; otherwise as `PathFilter.parse`
 */
export function measurePathFilter(file: Uint8Array): PathFilterMeasures {
  if (!(file instanceof Uint8Array)) throw wrongType("a Uint8Array", file);
  PathFilter.parse(file).free();
  instantiateBuild();
  const [bitsSet, falsePositiveRate] = measure(file) as unknown as [number, number];
  return { bitsSet, falsePositiveRate };
}
