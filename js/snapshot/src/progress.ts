/** How far the work is. */
export interface Progress {
  /** What is being done. */
  readonly phase: "create" | "restore" | "verify";
  /** How much of the image is done, in bytes, holes that are known left out. */
  readonly bytes: number;
  /** How much of it there is to do, in bytes. */
  readonly totalBytes: number;
  /** How much of the snapshot was read or written, in bytes: of its frames, its manifest left out. */
  readonly compressedBytes: number;
  /** How many frames of data are done; to verify, holes are frames as well. */
  readonly frames: number;
  /** How much came over a network, in bytes, what came twice included. */
  readonly transferredBytes: number;
  /** How often something was asked of a server again, because it failed. */
  readonly retries: number;
  /** How often something was asked for a second time, because it was slow. */
  readonly hedged: number;
  /** How fast it goes, in bytes of the image a second, since the beginning. */
  readonly bytesPerSecond: number;
}

/** What is counted while the work goes on. */
export type Counts = Omit<Progress, "phase" | "totalBytes" | "bytesPerSecond">;

/** How often progress is told, in milliseconds. */
const INTERVAL = 100;

/** The work that progress is told of. */
interface Work extends Pick<Progress, "phase" | "totalBytes"> {
  /** How far it is. */
  counts(): Counts;
}

/**
 * Tells of progress ten times a second while `action` goes on, and once when it is done.
 *
 * @param fail is called with what `onProgress` throws
 */
export async function withProgress<T>(
  onProgress: ((progress: Progress) => void) | undefined,
  { phase, totalBytes, counts }: Work,
  fail: (error: unknown) => void,
  action: () => Promise<T>,
): Promise<T> {
  if (onProgress === undefined) return action();
  const start = performance.now();
  const emit = () => {
    const done = counts();
    const seconds = Math.max(performance.now() - start, 1) / 1000;
    onProgress({ phase, totalBytes, ...done, bytesPerSecond: done.bytes / seconds });
  };
  let thrown: { readonly error: unknown } | undefined;
  const timer = setInterval(() => {
    try {
      emit();
    } catch (error) {
      clearInterval(timer);
      thrown = { error };
      fail(error);
    }
  }, INTERVAL);
  try {
    const result = await action();
    if (thrown !== undefined) throw thrown.error;
    emit();
    return result;
  } finally {
    clearInterval(timer);
  }
}
