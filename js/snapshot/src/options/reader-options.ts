import type { ReaderSource } from "../reader/reader-source.js";
import { checkFunction, checkSignal } from "./check-types.js";
import { checkedDigestOf } from "./digest.js";
import { readOptions } from "./read-options.js";

/** Options of {@link SnapshotReader.read}. */
export interface ReaderReadOptions {
  /** Aborts the call: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link SnapshotReader.verify}. */
export interface VerifyReaderOptions extends ReaderReadOptions {
  /**
   * Called after each frame with the number of frames that are verified, of {@link SnapshotReader.frameCount}. An
   * error that it throws ends the verification.
   */
  readonly onFrame?: ((verified: number) => void) | undefined;
}

/** Options of {@link SnapshotReader.open}. */
export interface ReaderOptions extends ReaderReadOptions {
  /** Identity that the snapshot must have, as 64 hexadecimal digits. Default: any snapshot is accepted. */
  readonly digest?: string | undefined;
  /**
   * Returns a base object of a delta by its identity. Its frames are verified, so it need not be trusted. Default,
   * or if it returns undefined: the reference in the delta, if the delta has a URL.
   */
  readonly resolve?:
    | ((digest: string) => ReaderSource | undefined | Promise<ReaderSource | undefined>)
    | undefined;
  /** Sends the requests, for example with credentials. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Returns checked options, each read once. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkedReader<Options extends ReaderOptions & VerifyReaderOptions>(
  given: Options,
): Options {
  const options = readOptions(given);
  checkSignal(options.signal);
  for (const name of ["fetch", "onFrame", "resolve"] as const) checkFunction(name, options[name]);
  return { ...options, digest: checkedDigestOf("digest", options.digest) };
}
