/** What a reader reads: its source, and the base objects of a delta. */
import { messageOf, SnapshotError } from "../error.js";
import { type DeltaInfo, referencedUrl } from "../format/manifest.js";
import { RangeSource } from "./range-source.js";
import type { ReaderOptions } from "./snapshot-reader.js";

/** Bytes that can be read in any order. */
export interface RandomAccess {
  /** Their name in messages. */
  readonly name: string;
  /** Their number. */
  readonly size: number;
  /** Returns the `length` bytes at `position`. A signal that is aborted should end the call. */
  read(position: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** A file or `Blob`, the URL of a server that answers range requests, or anything else that can be read in any order. */
export type ReaderSource = Blob | string | URL | RandomAccess;

/** A source that is open. */
export interface OpenSource extends RandomAccess {
  /** Where it is, if it is on a server. */
  readonly url?: URL;
}

/**
 * Opens a source, which may come from JavaScript without types.
 *
 * @param option the name of the argument, for messages
 * @param send sends the requests
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT`, and the signal's reason
 */
export async function openSource(
  option: string,
  source: unknown,
  send: typeof fetch,
  signal?: AbortSignal,
): Promise<OpenSource> {
  const found = accessTo(source);
  if (found instanceof URL) return RangeSource.open(checkedUrl(option, found), send, signal);
  if (found !== undefined) return checkedAccess(found);
  const message = `${option}: expected a Blob, a URL, or an object with name, size and read`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** Returns a copy of the members of a source, or undefined if the value is not one. */
function accessTo(source: unknown): URL | RandomAccess | undefined {
  if (typeof source === "string" || source instanceof URL) {
    const base = globalThis.location?.href;
    return URL.canParse(source.toString(), base) ? new URL(source, base) : undefined;
  }
  if (source instanceof Blob) return blobAccess(source);
  const { name, size, read } = Object(source) as RandomAccess;
  const isValid =
    typeof read === "function" &&
    typeof name === "string" &&
    Number.isSafeInteger(size) &&
    size >= 0;
  return isValid ? { name, size, read: (...args) => Reflect.apply(read, source, args) } : undefined;
}

function blobAccess(blob: Blob): RandomAccess {
  const { size, name = "the snapshot" } = blob as Blob & Partial<File>;
  return {
    name,
    size,
    read: async (start, length) =>
      new Uint8Array(await blob.slice(start, start + length).arrayBuffer()),
  };
}

function checkedUrl(option: string, url: URL): URL {
  if (!/^https?:$/.test(url.protocol)) {
    const message = `${option}: expected a URL of https: or http:, found ${url.protocol}`;
    throw new SnapshotError("ERR_ARGUMENT", message);
  }
  if (url.username === "" && url.password === "") return url;
  const message = `${option}: expected a URL without a user, which fetch refuses: pass fetch to authenticate`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** Checks what a source returns, and gives its errors a code. */
function checkedAccess({ name, size, read }: RandomAccess): OpenSource {
  return {
    name,
    size,
    async read(position, length, signal) {
      signal?.throwIfAborted();
      let bytes: unknown;
      try {
        bytes = await read(position, length, signal);
      } catch (cause) {
        signal?.throwIfAborted();
        const message = `cannot read ${name}: ${messageOf(cause)}`;
        throw new SnapshotError("ERR_SOURCE", message, { cause });
      }
      // The bytes may come from another realm.
      if (ArrayBuffer.isView(bytes) && bytes.byteLength === length) {
        return new Uint8Array(bytes.buffer, bytes.byteOffset, length);
      }
      const found = ArrayBuffer.isView(bytes) ? `${bytes.byteLength} bytes` : typeof bytes;
      const message = `cannot read ${name}: expected ${length} bytes at ${position}, found ${found}`;
      throw new SnapshotError("ERR_SOURCE", message);
    },
  };
}

/** The files that hold the frames of a snapshot: itself, and the base objects of a delta. */
export class FrameFiles {
  readonly #snapshot: OpenSource;
  readonly #delta: DeltaInfo | undefined;
  readonly #resolve: ReaderOptions["resolve"];
  readonly #send: typeof fetch;
  readonly #opened = new Map<number, Promise<RandomAccess>>();

  constructor(
    snapshot: OpenSource,
    delta: DeltaInfo | undefined,
    resolve: ReaderOptions["resolve"],
    send: typeof fetch,
  ) {
    this.#snapshot = snapshot;
    this.#delta = delta;
    this.#resolve = resolve;
    this.#send = send;
  }

  /**
   * Returns a file by its number. Opens each base object once for all calls, so the signal of one call does not abort
   * it.
   *
   * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SNAPSHOT_DIGEST`, `ERR_ARGUMENT`, and what `resolve` throws
   */
  at(object: number): RandomAccess | Promise<RandomAccess> {
    if (object === 0) return this.#snapshot;
    const known = this.#opened.get(object);
    if (known !== undefined) return known;
    const opened = this.#open(object);
    this.#opened.set(object, opened);
    // A failure is not remembered.
    opened.catch(() => this.#opened.delete(object));
    return opened;
  }

  async #open(object: number): Promise<RandomAccess> {
    const { digest = "", size, reference = "" } = this.#delta?.objects[object - 1] ?? {};
    const { name, url } = this.#snapshot;
    const resolved = await this.#resolve?.(digest);
    const referenced = url && reference !== "" ? referencedUrl(url, reference) : undefined;
    const found = resolved === undefined ? referenced : resolved;
    if (found === undefined) {
      const message = `${name}: base object ${digest} is missing; pass resolve to locate it`;
      throw new SnapshotError("ERR_SOURCE", message);
    }
    const opened = await openSource("resolve", found, this.#send);
    if (opened.size === size) return opened;
    const message = `base object ${digest} (${opened.name}): expected ${size} bytes, found ${opened.size}`;
    throw new SnapshotError("ERR_SNAPSHOT_DIGEST", message);
  }
}
