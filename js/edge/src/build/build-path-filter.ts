import { FilterBuilder } from "../../wasm/build.js";
import { checkList, checkString, HedgerowError, isOptions, typeName, wrongType } from "../error.js";
import { KeyWriter } from "../paths/key-writer.js";
import { buildMemory, instantiateBuild } from "./module.js";

const encoder = new TextEncoder();

const MIN_FALSE_POSITIVE_RATE = 1e-18;
const MAX_FALSE_POSITIVE_RATE = 0.5;
const MAX_HEADER_LENGTH = 2 ** 16;

/** Options of `buildPathFilter` and `PathFilterBuilder`. */
export interface PathFilterOptions {
  /**
   * Share of absent paths that the filter may report as present, from 1e-18 to 0.5. Default: `1e-7`.
   */
  falsePositiveRate?: number;
  /** Seed of the hashes, an integer from 0 to 2^53 − 1. Default: `0`. */
  seed?: number;
  /** A text stored in the file, such as a deployment ID. Default: `""`. */
  version?: string;
  /**
   * How to choose the number of bits. `"promised"` takes as many as `falsePositiveRate` needs; `"classic"`
   * uses the textbook formula, with which small filters exceed the rate by orders of magnitude. Default:
   * `"promised"`.
   */
  sizing?: "promised" | "classic";
}

/**
 * A builder that collects paths one by one and builds a filter from them. Duplicates count once. Each path
 * takes 16 bytes of memory until the filter is built.
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
  readonly #options: Required<PathFilterOptions>;
  #isFreed = false;

  /** @throws {HedgerowError} `ERR_ARGUMENT` if an option has the wrong type or exceeds a limit */
  constructor(options: PathFilterOptions = {}) {
    this.#options = withDefaults(options);
    instantiateBuild();
    const { falsePositiveRate, seed, sizing } = this.#options;
    this.#builder = new FilterBuilder(falsePositiveRate, seed, sizing === "classic");
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
   * @throws {HedgerowError} `ERR_ARGUMENT` if the paths need more than 2^32 − 1 bits
   */
  build(): Uint8Array<ArrayBuffer> {
    this.#checkNotFreed();
    try {
      // Building grows the memory, so take the view afterwards.
      const built = this.#builder.build();
      const numbers = new Float64Array(buildMemory().buffer, built, 6);
      const [start, length, n, m, k, wildcards] = [...numbers] as [number, ...number[]];
      if (start === 0) {
        throw new HedgerowError(
          "ERR_ARGUMENT",
          "expected paths for at most 2^32 - 1 bits, found more",
        );
      }
      const { falsePositiveRate: p, seed: s, version } = this.#options;
      const header = {
        version,
        bloom: { n, p, m, k, s },
        ...(wildcards === 0 ? {} : { wildcards }),
      };
      return fileOf(header, buildMemory().subarray(start, start + length!));
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
 * @throws {HedgerowError} `ERR_ARGUMENT` if an option or a path has the wrong type or exceeds a limit
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

/** Assembles the two lines of a filter file. */
function fileOf(header: object, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const line = encoder.encode(`${JSON.stringify(header)}\n"`);
  const file = new Uint8Array(line.length + body.length + 1);
  file.set(line);
  file.set(body, line.length);
  file[file.length - 1] = 0x22;
  return file;
}

function withDefaults(options: PathFilterOptions): Required<PathFilterOptions> {
  if (!isOptions(options)) throw wrongType("options", options);
  const { falsePositiveRate = 1e-7, seed = 0, version = "", sizing = "promised" } = options;
  const isRate =
    typeof falsePositiveRate === "number" &&
    falsePositiveRate >= MIN_FALSE_POSITIVE_RATE &&
    falsePositiveRate <= MAX_FALSE_POSITIVE_RATE;
  if (!isRate) {
    throw unexpected("falsePositiveRate", "a number from 1e-18 to 0.5", falsePositiveRate);
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw unexpected("seed", "an integer from 0 to 2^53 - 1", seed);
  }
  // The other members of line 1 take up to 160 bytes.
  const isVersion = typeof version === "string";
  const length = isVersion ? encoder.encode(JSON.stringify(version)).length + 160 : 0;
  if (!isVersion || length > MAX_HEADER_LENGTH) {
    const expected = "a string that leaves line 1 below 65536 bytes";
    throw unexpected("version", expected, isVersion ? `a line of ${length}` : version);
  }
  if (sizing !== "promised" && sizing !== "classic") {
    throw unexpected("sizing", '"promised" or "classic"', sizing);
  }
  return { falsePositiveRate, seed, version, sizing };
}

function unexpected(option: string, expected: string, value: unknown): HedgerowError {
  const isPrintable = typeof value === "number" || typeof value === "string";
  const found = isPrintable ? value : typeName(value);
  return new HedgerowError("ERR_ARGUMENT", `${option}: expected ${expected}, found ${found}`);
}
