/** Merges and measures filters. */
import { FilterMerger, measure } from "../../wasm/build.js";
import { checkKnown, checkList, HedgerowError, wrongType } from "../error.js";
import { type BloomParams, PathFilter, type PathFilterParams } from "../paths/path-filter.js";
import {
  buildMemory,
  checkVersion,
  fileOf,
  instantiateBuild,
  isRate,
} from "./build-path-filter.js";

/** Options of `mergePathFilters`. */
export interface PathFilterMerging {
  /** A text stored in the merged file. Default: the version of the filters, which must then be equal. */
  version?: string;
}

/** Parameters of a filter of the kind `"bloom"`. */
interface BloomFilter {
  version: string;
  bloom: BloomParams;
  wildcards: number;
}

/**
 * Merges filters of the same size, hashes and seed into one that has all of their paths. Build them with the same
 * `falsePositiveRate`, `seed` and `sizing`, and with the total number of paths as `capacity`. If no path is in two of
 * them, the result is the file that `buildPathFilter` makes of all paths with these options.
 *
 * The number of paths in the file, `bloom.n`, is the sum of those of the filters, and so an upper bound. The
 * requested rate, `bloom.p`, is the greatest one; `measurePathFilter` returns the rate to expect of the
 * result. Further members of the first lines are dropped.
 *
 * @param files filter files, at least one; a generator can provide them one by one
 * @returns the merged filter file
 * @throws {HedgerowError} `ERR_FILTER_MERGE` if a filter is of the kind `"fuse"`; if the filters differ in `m`, `k`
 * or `s`, or in `version` if `options` have none; if their numbers of paths add up to more than 2^53 − 1; or if the
 * greatest requested rate is not from 1e-18 to 0.5. `ERR_FILTER_FORMAT` if a file is not a filter. `ERR_ARGUMENT` if an
 * argument has the wrong type, an option is unknown, there is no file, or `version` exceeds its limit
 *
 * @example
 * ```ts
 * import { buildPathFilter, mergePathFilters } from "hedgerow";
 *
 * const pages = buildPathFilter(["/", "/about"], { capacity: 3 });
 * const posts = buildPathFilter(["/blog/*"], { capacity: 3 });
 * mergePathFilters([pages, posts]); // equals buildPathFilter(["/", "/about", "/blog/*"])
 * ```
 */
export function mergePathFilters(
  files: Iterable<Uint8Array>,
  options: PathFilterMerging = {},
): Uint8Array<ArrayBuffer> {
  checkList("files", files);
  checkKnown(options, ["version"]);
  const { version } = options;
  checkVersion(version ?? "");
  instantiateBuild();
  const merger = new FilterMerger();
  try {
    let merged: BloomFilter | undefined;
    for (const file of files) {
      if (!(file instanceof Uint8Array)) throw wrongType("a Uint8Array", file);
      const params = bloomOf(paramsOf(file));
      merged = mergedParams(merged, version === undefined ? params : { ...params, version });
      if (!merger.add(file)) {
        throw new HedgerowError("ERR_FILTER_FORMAT", "a filter changed while it was merged");
      }
    }
    if (merged === undefined) {
      throw new HedgerowError("ERR_ARGUMENT", "expected at least one filter, found none");
    }
    const { bloom, wildcards, version: text } = merged;
    checkVersion(text);
    if (!isRate(bloom.p)) throw unmergeable("p from 1e-18 to 0.5", `p = ${bloom.p}`);
    // Building grows the memory, so take the view afterwards.
    const built = merger.build();
    const [start = 0, length = 0] = new Float64Array(buildMemory().buffer, built, 2);
    const body = buildMemory().subarray(start, start + length);
    return fileOf(text, { bloom }, wildcards, body);
  } finally {
    merger.free();
  }
}

function paramsOf(file: Uint8Array): PathFilterParams {
  const filter = PathFilter.parse(file);
  try {
    return filter.params;
  } finally {
    filter.free();
  }
}

/** Returns the parameters of a filter that can be merged. */
function bloomOf({ version, bloom, wildcards = 0 }: PathFilterParams): BloomFilter {
  if (bloom === undefined) throw unmergeable('filters of the kind "bloom"', '"fuse"');
  return { version, bloom, wildcards };
}

/** Returns the parameters of the filters so far, `merged`, and of one more. */
function mergedParams(merged: BloomFilter | undefined, next: BloomFilter): BloomFilter {
  const { n, p, m, k, s } = next.bloom;
  const wildcards = Math.max(merged?.wildcards ?? 0, next.wildcards);
  const first = merged ?? next;
  for (const name of ["m", "k", "s"] as const) {
    const expected = first.bloom[name];
    const found = next.bloom[name];
    if (expected !== found) throw unmergeable(`${name} = ${expected}`, `${name} = ${found}`);
  }
  if (first.version !== next.version) {
    const [expected, found] = [first.version, next.version].map((text) => JSON.stringify(text));
    throw unmergeable(`the version ${expected}, or the option version`, `${found}`);
  }
  const paths = (merged?.bloom.n ?? 0) + n;
  if (!Number.isSafeInteger(paths)) {
    throw unmergeable("at most 2^53 - 1 paths in all filters", "more");
  }
  return {
    version: first.version,
    bloom: { n: paths, p: Math.max(p, first.bloom.p), m, k, s },
    wildcards,
  };
}

function unmergeable(expected: string, found: string): HedgerowError {
  return new HedgerowError("ERR_FILTER_MERGE", `expected ${expected}, found ${found}`);
}

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
