import { checkString, HedgerowError, isOptions, wrongType } from "../error.js";
import { FilterFile } from "./filter-file.js";
import type { PathLookup } from "./path-lookup.js";

const encoder = new TextEncoder();

/** The first line of a filter's file. It may have more members. */
export interface PathFilterParams {
  /** A text of whoever built the filter. */
  readonly version: string;
  /** The size of the filter. */
  readonly bloom: {
    /** The number of paths. */
    readonly n: number;
    /** The false-positive rate that was asked for. */
    readonly p: number;
    /** The number of bits. */
    readonly m: number;
    /** The number of bits of a path. */
    readonly k: number;
    /** The seed of the hashes. */
    readonly s: number;
  };
  /** The depth of the deepest wildcard key, if there are any. */
  readonly wildcards?: number;
}

/** How a filter is read. */
export interface PathFilterReading {
  /**
   * Whether to look through the file once for what is not Base64 (default: true). Without that, a
   * character that is not stands for bits that are not set, and a path that is in the filter may be
   * absent: only for files that come from where nothing is damaged.
   */
  validate?: boolean;
}

/**
 * The paths of a deployment in one small file, which is read where it lies in WebAssembly memory.
 *
 * "Absent" is certain; "present" is wrong at the rate that was chosen when the file was built.
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

  /** @internal Filters come from `parse`, `load` and `readPathFilterSync`. */
  constructor(file: FilterFile, reading: PathFilterReading = {}) {
    try {
      const { validate = true } = isOptions(reading) ? reading : { validate: null };
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
   * Copies a file into WebAssembly memory, and reads it there.
   *
   * @throws {HedgerowError} `ERR_FILTER_FORMAT` for what is no filter, with what was expected, what
   * was found, and where; `ERR_ARGUMENT` if `file` or `reading` is of another type.
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
   * Reads a file from the body of a response or from a stream, into WebAssembly memory as it comes.
   *
   * Memory is taken for what has come, a mebibyte at first and then in steps that double, whatever the
   * file says of its size. No more is read of a file than it takes to refuse it.
   *
   * @throws {HedgerowError} `ERR_FILTER_RESPONSE` for a response whose status is not 2xx, and as
   * {@link parse} does. What the stream throws is thrown on. The stream is then cancelled.
   */
  static async load(
    source: Response | ReadableStream<Uint8Array>,
    reading?: PathFilterReading,
  ): Promise<PathFilter> {
    const stream = streamOf(source);
    const file = new FilterFile();
    try {
      if (stream !== null) await receive(stream, file);
    } catch (error) {
      file.free();
      throw error;
    }
    return new PathFilter(file, reading);
  }

  /** Whether the filter has a path. If not, it is certainly absent. */
  has(path: string): boolean {
    checkString("a path", path);
    return this.#file.has(path);
  }

  /** The first line of the file, with all its members. */
  get params(): PathFilterParams {
    this.#params ??= JSON.parse(this.#file.header) as PathFilterParams;
    return this.#params;
  }

  /** The depth of the deepest wildcard key, as the number of its slashes; 0 if there are none. */
  get wildcards(): number {
    return this.#file.wildcards;
  }

  /** The length of the file in bytes. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** Gives the WebAssembly memory back. The filter must not be asked afterwards. */
  free(): void {
    this.#file.free();
  }

  /** The same as {@link free}, for `using`. */
  [Symbol.dispose](): void {
    this.free();
  }
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
  if (source instanceof ReadableStream) return source;
  if (!(source instanceof Response)) throw wrongType("a Response or a ReadableStream", source);
  if (!source.ok) {
    // An answer that nobody reads would hold its connection.
    cancel(source.body);
    const message = `path filter could not be loaded: HTTP status ${source.status}`;
    throw new HedgerowError("ERR_FILTER_RESPONSE", message);
  }
  return source.body;
}

async function receive(stream: ReadableStream<Uint8Array>, file: FilterFile): Promise<void> {
  const reader = stream.getReader();
  try {
    for (;;) {
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
  }
}

/** Tells a stream that it is not read on. How that ends adds nothing to what is thrown, and may take long. */
function cancel(
  stream: ReadableStream<Uint8Array> | ReadableStreamDefaultReader<Uint8Array> | null,
  reason?: unknown,
): void {
  stream?.cancel(reason).catch(() => {});
}
