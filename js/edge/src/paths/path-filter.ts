import { checkKnown, checkString, HedgerowError, wrongType } from "../error.js";
import { FilterFile } from "./filter-file.js";
import type { PathLookup } from "./guard-paths.js";

const encoder = new TextEncoder();

/**
 * Parameters of a filter: the first line of its file, which may have further members. Exactly one of `bloom` and
 * `fuse` is present.
 */
export type PathFilterParams = {
  /** The `version` that the filter was built with. */
  readonly version: string;
  /** Depth of the deepest wildcard key. Missing if there are none. */
  readonly wildcards?: number;
} & (
  | {
      /** Parameters of the body, if the filter is of the kind `"bloom"`. */
      readonly bloom: BloomParams;
      /** Missing. */
      readonly fuse?: undefined;
    }
  | {
      /** Parameters of the body, if the filter is of the kind `"fuse"`. */
      readonly fuse: FuseParams;
      /** Missing. */
      readonly bloom?: undefined;
    }
);

/** Parameters of a filter of the kind `"bloom"`. */
export interface BloomParams {
  /** Number of paths. */
  readonly n: number;
  /** Requested false-positive rate. */
  readonly p: number;
  /** Number of bits. */
  readonly m: number;
  /** Number of bits set for each path. */
  readonly k: number;
  /** Seed of the hashes. */
  readonly s: number;
}

/** Parameters of a filter of the kind `"fuse"`, whose false-positive rate is 2^-24. */
export interface FuseParams {
  /** Number of paths. */
  readonly n: number;
  /** Number of slots, of 24 bits each. */
  readonly m: number;
  /** Number of slots in a segment. */
  readonly l: number;
  /** Multiplier of the hashes. */
  readonly q: number;
  /** Seed of the hashes. */
  readonly s: number;
}

/** Options of `PathFilter.parse`, `PathFilter.load` and `readPathFilterSync`. */
export interface PathFilterReading {
  /**
   * Whether to check that the whole body is Base64. Set it to `false` only for files that cannot be damaged:
   * characters that are not Base64 then read as zero bits, and paths in the filter may be reported absent.
   * Default: `true`.
   */
  validate?: boolean;
}

/**
 * A filter of the paths of a deployment, read in place from one small file.
 *
 * If it says a path is absent, it is absent. It reports absent paths as present at its false-positive rate: the one
 * that the file was built with, or 2^-24 for the kind `"fuse"`.
 *
 * @example
 * ```ts
 * import { buildPathFilter, PathFilter } from "hedgerow";
 *
 * const file = buildPathFilter(["/", "/about", "/assets/app.js"]);
 * const filter = PathFilter.parse(file);
 * filter.has("/about"); // true
 * filter.has("/wp-login.php"); // false
 * ```
 */
export class PathFilter implements PathLookup {
  readonly #file: FilterFile;
  readonly #byteLength: number;
  #params: PathFilterParams | undefined;

  /** @internal Use `parse`, `load` or `readPathFilterSync`. */
  constructor(file: FilterFile, reading: PathFilterReading = {}) {
    try {
      checkKnown(reading, ["validate"]);
      const { validate = true } = reading;
      if (typeof validate !== "boolean") throw wrongType("{ validate }", reading);
      file.parse(!validate);
    } catch (error) {
      file.free();
      throw error;
    }
    this.#file = file;
    this.#byteLength = file.length;
  }

  /**
   * Reads a filter from the contents of its file, which are copied into WebAssembly memory.
   *
   * @throws {HedgerowError} `ERR_FILTER_FORMAT` if `file` is not a filter; `ERR_ARGUMENT` if `file` or
   * `reading` has the wrong type
   */
  static parse(file: Uint8Array | ArrayBuffer | string, reading?: PathFilterReading): PathFilter {
    const bytes = bytesOf(file);
    const loaded = new FilterFile(bytes.length);
    try {
      loaded.append(bytes);
    } catch (error) {
      loaded.free();
      throw error;
    }
    return new PathFilter(loaded, reading);
  }

  /**
   * Reads a filter from a response or a stream, straight into WebAssembly memory.
   *
   * Memory is reserved for the bytes that have arrived, whatever size the file claims: 1 MiB first, then
   * twice as much each time. Reading stops as soon as the file is certainly invalid.
   *
   * @throws {HedgerowError} `ERR_FILTER_RESPONSE` if the status of the response is not 2xx; otherwise as
   * {@link parse}. Errors of the stream propagate. The stream is cancelled on every error.
   */
  static async load(
    source: Response | ReadableStream<Uint8Array>,
    reading?: PathFilterReading,
  ): Promise<PathFilter> {
    return new PathFilter(await receiveFile(source), reading);
  }

  /** Returns whether a path may be in the filter. `false` is certain. */
  has(path: string): boolean {
    checkString("a path", path);
    return this.#file.has(path);
  }

  /** Parameters of the filter: the first line of its file. */
  get params(): PathFilterParams {
    this.#params ??= JSON.parse(this.#file.header) as PathFilterParams;
    return this.#params;
  }

  /** Depth of the deepest wildcard key, as its number of slashes; 0 if there are none. */
  get wildcards(): number {
    return this.#file.wildcards;
  }

  /** Length of the file, in bytes. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** Releases the WebAssembly memory. The filter must not be used afterwards. */
  free(): void {
    this.#file.free();
  }

  /** Calls {@link free}; for `using`. */
  [Symbol.dispose](): void {
    this.free();
  }
}

/** Receives a file as {@link PathFilter.load}. When `signal` aborts, the stream is cancelled, and reading ends. */
export async function receiveFile(
  source: Response | ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): Promise<FilterFile> {
  const stream = streamOf(source);
  const file = new FilterFile();
  try {
    if (stream !== null) await receive(stream, file, signal);
    return file;
  } catch (error) {
    file.free();
    throw error;
  }
}

/** Returns whether a value has the members of a response. Not `instanceof`, for `fetch` of npm's undici. */
export function isResponse(value: unknown): value is Response {
  const { ok, status, body } = (value ?? {}) as Partial<Response>;
  return typeof ok === "boolean" && typeof status === "number" && (body === null || isStream(body));
}

function isStream(value: unknown): value is ReadableStream<Uint8Array> {
  return typeof (value as Partial<ReadableStream> | undefined)?.getReader === "function";
}

function bytesOf(file: Uint8Array | ArrayBuffer | string): Uint8Array {
  if (typeof file === "string") return encoder.encode(file);
  if (file instanceof Uint8Array) return file;
  if (file instanceof ArrayBuffer) return new Uint8Array(file);
  throw wrongType("a Uint8Array, an ArrayBuffer or a string", file);
}

function streamOf(
  source: Response | ReadableStream<Uint8Array>,
): ReadableStream<Uint8Array> | null {
  if (isStream(source)) return source;
  if (!isResponse(source)) throw wrongType("a Response or a ReadableStream", source);
  if (!source.ok) {
    // An unread body would keep its connection busy.
    cancel(source.body);
    const message = `path filter could not be loaded: HTTP status ${source.status}`;
    throw new HedgerowError("ERR_FILTER_RESPONSE", message);
  }
  return source.body;
}

async function receive(
  stream: ReadableStream<Uint8Array>,
  file: FilterFile,
  signal: AbortSignal | undefined,
): Promise<void> {
  const reader = stream.getReader();
  // Ends a read that is pending.
  const abort = () => cancel(reader, signal?.reason);
  signal?.addEventListener("abort", abort);
  try {
    for (;;) {
      if (signal?.aborted) throw signal.reason;
      const { done, value } = await reader.read();
      if (done) return;
      if (!(value instanceof Uint8Array)) {
        throw wrongType("a stream of Uint8Arrays", value);
      }
      file.append(value);
    }
  } catch (error) {
    cancel(reader, error);
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

/** Cancels a stream without waiting, and ignores errors: the caller throws one that says more. */
function cancel(
  stream: ReadableStream<Uint8Array> | ReadableStreamDefaultReader<Uint8Array> | null,
  reason?: unknown,
): void {
  stream?.cancel(reason).catch(() => {});
}
