import { SnapshotError } from "../error.js";
import type { DeltaInfo } from "../format/manifest.js";
import { referencedUrl } from "../location/referenced-url.js";
import type { ReaderOptions } from "../options/reader-options.js";
import { type OpenSource, openSource, type RandomAccess } from "./reader-source.js";

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
   * Returns a file by its number. Opens each base object once, for all calls, so that no signal of one aborts it.
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
