/** The progress of an operation. */
export interface Progress {
  /** The operation, or its part: a delta may `compare` and `restore` before it is created. */
  readonly phase: "compare" | "create" | "restore" | "verify";
  /** The number of bytes of the image that are done. Known holes are not counted. */
  readonly bytes: number;
  /** The number of bytes to do. */
  readonly totalBytes: number;
  /** The number of bytes of frames that were read or written, without the manifest. */
  readonly compressedBytes: number;
  /** The number of frames that are done. Holes count only when verifying. */
  readonly frames: number;
  /** The number of bytes received from a server, including those received twice. */
  readonly transferredBytes: number;
  /** The number of requests that were retried because one failed. */
  readonly retries: number;
  /** The number of hedges: second requests for slow ranges. */
  readonly hedged: number;
  /** The average throughput since the beginning, in bytes of the image per second. */
  readonly bytesPerSecond: number;
}

/** The counters of an operation. */
export type Counts = Omit<Progress, "phase" | "totalBytes" | "bytesPerSecond">;

/** How often progress is reported, in milliseconds. */
const INTERVAL = 100;

/** An operation that reports progress. */
interface Operation extends Pick<Progress, "phase" | "totalBytes"> {
  counts(): Counts;
}

/**
 * Reports progress ten times a second while `action` runs, and once when it is done.
 *
 * @param fail called with what `onProgress` throws; it must make `action` end
 */
export async function withProgress<T>(
  onProgress: ((progress: Progress) => void) | undefined,
  { phase, totalBytes, counts }: Operation,
  fail: (error: unknown) => void,
  action: () => Promise<T>,
): Promise<T> {
  if (onProgress === undefined) return action();
  const start = performance.now();
  const report = () => {
    const done = counts();
    const seconds = Math.max(performance.now() - start, 1) / 1000;
    onProgress({ phase, totalBytes, ...done, bytesPerSecond: done.bytes / seconds });
  };
  let thrown: { readonly error: unknown } | undefined;
  const timer = setInterval(() => {
    try {
      report();
    } catch (error) {
      clearInterval(timer);
      thrown = { error };
      fail(error);
    }
  }, INTERVAL);
  try {
    const result = await action();
    if (thrown !== undefined) throw thrown.error;
    report();
    return result;
  } finally {
    clearInterval(timer);
  }
}
