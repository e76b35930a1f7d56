import { FilterBuilder } from "../../wasm/build.js";
import { checkList, checkString, found, HedgerowError, isOptions, wrongType } from "../error.js";
import { KeyWriter } from "../paths/key-writer.js";
import { buildMemory, instantiateBuild } from "./module.js";

const encoder = new TextEncoder();

const MIN_FALSE_POSITIVE_RATE = 1e-18;
const MAX_FALSE_POSITIVE_RATE = 0.5;
const MAX_HEADER_LENGTH = 2 ** 16;

/** How a filter is built. */
export interface PathFilterOptions {
  /**
   * How many of the paths that are not in the filter it may say to be present, as a share: from 1e-18
   * to 0.5 (default: 1e-7).
   */
  falsePositiveRate?: number;
  /** The seed of the hashes, an integer from 0 to 2^53 − 1 (default: 0). */
  seed?: number;
  /** A text for whoever reads the file (default: empty). */
  version?: string;
  /**
   * How the number of bits is chosen. `"promised"`, the default, takes as many as the rate needs;
   * `"classic"` is the published formula, whose small filters miss the rate by orders of magnitude.
   */
  sizing?: "promised" | "classic";
}

/**
 * Builds a filter from paths that come one by one. Equal paths count once. Each takes 16 bytes until
 * the filter is built.
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

  /** @throws {HedgerowError} `ERR_ARGUMENT` for an option of the wrong type or beyond a limit. */
  constructor(options: PathFilterOptions = {}) {
    this.#options = checked(options);
    instantiateBuild();
    const { falsePositiveRate, seed, sizing } = this.#options;
    this.#builder = new FilterBuilder(falsePositiveRate, seed, sizing === "classic");
    this.#keys = new KeyWriter(this.#builder, buildMemory);
  }

  /** Adds a path, as it is: see `normalizePath`. A path that ends in `/*` is a wildcard key. */
  add(path: string): this {
    this.#live();
    checkString("a path", path);
    const length = this.#keys.write(path);
    this.#builder.add(length);
    this.#keys.release(length);
    return this;
  }

  /**
   * Builds the file, and gives the memory back.
   *
   * @throws {HedgerowError} `ERR_ARGUMENT` for so many paths that they need more than 2^32 − 1 bits.
   */
  build(): Uint8Array<ArrayBuffer> {
    this.#live();
    try {
      // The call makes the memory grow: only then ask for it.
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

  /** Gives the WebAssembly memory back. Nothing can be added afterwards. */
  free(): void {
    if (this.#isFreed) return;
    this.#isFreed = true;
    this.#builder.free();
  }

  /** The same as {@link free}, for `using`. */
  [Symbol.dispose](): void {
    this.free();
  }

  #live(): void {
    if (this.#isFreed) {
      throw new HedgerowError("ERR_FREED", "PathFilterBuilder was used after build() or free()");
    }
  }
}

/**
 * Builds the file of a filter. Equal paths count once.
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` for an option or a path of the wrong type or beyond a limit.
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

/** The two lines of a file. */
function fileOf(header: object, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const line = encoder.encode(`${JSON.stringify(header)}\n"`);
  const file = new Uint8Array(line.length + body.length + 1);
  file.set(line);
  file.set(body, line.length);
  file[file.length - 1] = 0x22;
  return file;
}

function checked(options: PathFilterOptions): Required<PathFilterOptions> {
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
  // The rest of the line takes up to 160 bytes.
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
  const isShown = typeof value === "number" || typeof value === "string";
  const what = isShown ? value : found(value);
  return new HedgerowError("ERR_ARGUMENT", `${option}: expected ${expected}, found ${what}`);
}
