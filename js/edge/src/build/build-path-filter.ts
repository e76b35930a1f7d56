/**
 * Builds filters. The WebAssembly module that does it is instantiated on first use, because most programs only query.
 */
import module from "wasm:build";

import { FilterBuilder, type InitOutput, initSync } from "../../wasm/build.js";
import { checkKnown, checkList, checkString, HedgerowError, typeName } from "../error.js";
import { compile } from "../module.js";
import { KeyWriter } from "../paths/key-writer.js";
import type { BloomParams, FuseParams } from "../paths/path-filter.js";

const encoder = new TextEncoder();

const MIN_FALSE_POSITIVE_RATE = 1e-18;
const MAX_FALSE_POSITIVE_RATE = 0.5;
const MAX_HEADER_LENGTH = 2 ** 16;

/** Options of `buildPathFilter` and `PathFilterBuilder`. */
export interface PathFilterOptions {
  /**
   * How to store the paths. `"bloom"` has a rate of your choice and is the format of Vercel's filters;
   * `"fuse"` is smaller and faster, and has a rate of 2^-24 (6e-8). Default: `"bloom"`.
   */
  kind?: "bloom" | "fuse";
  /**
   * Share of absent paths that the filter may report as present, from 1e-18 to 0.5. Only for `"bloom"`.
   * Default: `1e-7`.
   */
  falsePositiveRate?: number;
  /** Seed of the hashes, an integer from 0 to 2^53 − 1. Default: `0`. */
  seed?: number;
  /** A text stored in the file, such as a deployment ID. Default: `""`. */
  version?: string;
  /**
   * How to choose the number of bits. `"promised"` takes as many as `falsePositiveRate` needs; `"classic"`
   * uses the textbook formula, with which small filters exceed the rate by orders of magnitude. Only for
   * `"bloom"`. Default: `"promised"`.
   */
  sizing?: "promised" | "classic";
  /**
   * Number of different paths to size the filter for, an integer from 1 to 2^53 − 1: that of all parts, if
   * this is a part for `mergePathFilters`. More paths are refused. Only for `"bloom"`. Default: the number of
   * paths.
   */
  capacity?: number;
}

/** The options with their defaults. */
type Settings = Required<Omit<PathFilterOptions, "capacity">> & { capacity: number | undefined };

/**
 * A builder that collects paths one by one and builds a filter from them. Duplicates count once. Each path
 * takes 16 bytes of memory until the filter is built; 8 bytes with `kind: "fuse"`.
 *
 * @example
 * ```ts
 * import { PathFilterBuilder } from "hedgerow";
 *
 * const file = new PathFilterBuilder({ version: "dpl_7" }).add("/").add("/blog/*").build();
 * ```
 */
export class PathFilterBuilder {
  readonly #builder: FilterBuilder;
  readonly #keys: KeyWriter;
  readonly #options: Settings;
  #isFreed = false;

  /** @throws {HedgerowError} `ERR_ARGUMENT` if an option is unknown, has the wrong type or exceeds a limit */
  constructor(options: PathFilterOptions = {}) {
    this.#options = withDefaults(options);
    instantiateBuild();
    const { kind, falsePositiveRate, seed, sizing, capacity = 0 } = this.#options;
    const isClassic = sizing === "classic";
    const isFuse = kind === "fuse";
    this.#builder = new FilterBuilder(falsePositiveRate, seed, isClassic, capacity, isFuse);
    this.#keys = new KeyWriter(this.#builder, buildMemory);
  }

  /**
   * Adds a path. Normalise it with `normalizePath` first: paths are stored as given. A path that ends in
   * `/*` is a wildcard key.
   */
  add(path: string): this {
    this.#checkNotFreed();
    checkString("a path", path);
    const length = this.#keys.write(path);
    this.#builder.add(length);
    this.#keys.release(length);
    return this;
  }

  /**
   * Builds the filter file and frees the builder.
   *
   * @throws {HedgerowError} `ERR_ARGUMENT` if the paths or the capacity need more than 2^32 − 1 bits, or
   * 2^28 slots with `kind: "fuse"`; if there are more different paths than the capacity; or if no arrangement of
   * the paths is found with `kind: "fuse"` and this seed
   */
  build(): Uint8Array<ArrayBuffer> {
    this.#checkNotFreed();
    try {
      // Building grows the memory, so take the view afterwards.
      const built = this.#builder.build();
      const numbers = new Float64Array(buildMemory().buffer, built, 8);
      const [start = 0, length = 0, n = 0, m = 0, k = 0, wildcards = 0, l = 0, q = 0] = numbers;
      const { kind, falsePositiveRate: p, seed: s, version } = this.#options;
      // The other numbers are then the reason.
      if (start === 0) throw failure(kind, length, n);
      const body = buildMemory().subarray(start, start + length);
      const params = kind === "fuse" ? { fuse: { n, m, l, q, s } } : { bloom: { n, p, m, k, s } };
      return fileOf(version, params, wildcards, body);
    } finally {
      this.free();
    }
  }

  /** Releases the WebAssembly memory. The builder must not be used afterwards. */
  free(): void {
    if (this.#isFreed) return;
    this.#isFreed = true;
    this.#builder.free();
  }

  /** Calls {@link free}; for `using`. */
  [Symbol.dispose](): void {
    this.free();
  }

  #checkNotFreed(): void {
    if (this.#isFreed) {
      throw new HedgerowError("ERR_FREED", "PathFilterBuilder was used after build() or free()");
    }
  }
}

/**
 * Builds a filter file from a list of paths. Duplicates count once. Normalise the paths first.
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` if an option is unknown, or an option or a path has the wrong type or exceeds
 * a limit
 *
 * @example
 * ```ts
 * import { buildPathFilter, normalizePath } from "hedgerow";
 *
 * const paths = ["/", "/about/", "/caf%C3%A9"];
 * const file = buildPathFilter(paths.map(normalizePath), { falsePositiveRate: 1e-6 });
 * ```
 */
export function buildPathFilter(
  paths: Iterable<string>,
  options?: PathFilterOptions,
): Uint8Array<ArrayBuffer> {
  checkList("paths", paths);
  const builder = new PathFilterBuilder(options);
  try {
    for (const path of paths) builder.add(path);
    return builder.build();
  } finally {
    builder.free();
  }
}

/** Returns the error for paths from which no filter can be built. */
function failure(kind: "bloom" | "fuse", capacity: number, attempts: number): HedgerowError {
  if (attempts > 0) {
    const message = `no arrangement of the paths was found in ${attempts} attempts: choose another seed`;
    return new HedgerowError("ERR_ARGUMENT", message);
  }
  const size = kind === "fuse" ? "2^28 slots" : "2^32 - 1 bits";
  const expected = capacity > 0 ? `${capacity} different paths` : `paths for ${size}`;
  return new HedgerowError("ERR_ARGUMENT", `expected at most ${expected}, found more`);
}

function withDefaults(options: PathFilterOptions): Settings {
  checkKnown(options, ["kind", "falsePositiveRate", "seed", "version", "sizing", "capacity"]);
  const {
    kind = "bloom",
    falsePositiveRate = 1e-7,
    seed = 0,
    version = "",
    sizing = "promised",
    capacity,
  } = options;
  if (kind !== "bloom" && kind !== "fuse") throw unexpected("kind", '"bloom" or "fuse"', kind);
  for (const name of ["falsePositiveRate", "sizing", "capacity"] as const) {
    const value = options[name];
    if (kind === "fuse" && value !== undefined) {
      throw unexpected(name, 'none with kind "fuse"', value);
    }
  }
  if (!isRate(falsePositiveRate)) {
    throw unexpected("falsePositiveRate", "a number from 1e-18 to 0.5", falsePositiveRate);
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw unexpected("seed", "an integer from 0 to 2^53 - 1", seed);
  }
  checkVersion(version);
  if (sizing !== "promised" && sizing !== "classic") {
    throw unexpected("sizing", '"promised" or "classic"', sizing);
  }
  if (capacity !== undefined && (!Number.isSafeInteger(capacity) || capacity < 1)) {
    throw unexpected("capacity", "an integer from 1 to 2^53 - 1", capacity);
  }
  return { kind, falsePositiveRate, seed, version, sizing, capacity };
}

/** Assembles the two lines of a filter file. */
export function fileOf(
  version: string,
  params: { bloom: BloomParams } | { fuse: FuseParams },
  wildcards: number,
  body: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const header = { version, ...params, ...(wildcards === 0 ? {} : { wildcards }) };
  const line = encoder.encode(`${JSON.stringify(header)}\n"`);
  const file = new Uint8Array(line.length + body.length + 1);
  file.set(line);
  file.set(body, line.length);
  file[file.length - 1] = 0x22;
  return file;
}

/** Returns whether builders accept a false-positive rate. */
export function isRate(rate: unknown): boolean {
  return (
    typeof rate === "number" && rate >= MIN_FALSE_POSITIVE_RATE && rate <= MAX_FALSE_POSITIVE_RATE
  );
}

/** Throws `ERR_ARGUMENT` unless `version` is a string for which the first line has room. */
export function checkVersion(version: unknown): void {
  // The other members of line 1 take up to 160 bytes.
  const isVersion = typeof version === "string";
  const length = isVersion ? encoder.encode(JSON.stringify(version)).length + 160 : 0;
  if (!isVersion || length > MAX_HEADER_LENGTH) {
    const expected = "a string that leaves line 1 below 65536 bytes";
    throw unexpected("version", expected, isVersion ? `a line of ${length}` : version);
  }
}

/** Returns the error for an option with a wrong value. */
export function unexpected(option: string, expected: string, value: unknown): HedgerowError {
  const isPrintable = typeof value === "number" || typeof value === "string";
  const found = isPrintable ? value : typeName(value);
  return new HedgerowError("ERR_ARGUMENT", `${option}: expected ${expected}, found ${found}`);
}

let instance: InitOutput | undefined;
let bytes = new Uint8Array(0);

/** Instantiates the module if needed. Call it before anything else of the module. */
export function instantiateBuild(): void {
  instance ??= initSync({ module: compile(module) });
}

/** Returns the module's whole memory. The view detaches when the memory grows. */
export function buildMemory(): Uint8Array<ArrayBuffer> {
  if (bytes.length === 0) bytes = new Uint8Array(instance!.memory.buffer as ArrayBuffer);
  return bytes;
}
