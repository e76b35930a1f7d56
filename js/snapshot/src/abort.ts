/** Waits. @throws the reason of the signal when it is aborted */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const wait = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await unlessAborted(wait, signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Settles as the promise does, or rejects with the signal's reason when it is aborted. A later rejection of the
 * promise is ignored.
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/**
 * Calls `use` with a signal that is aborted when either of two signals is. Unlike `AbortSignal.any`, it keeps
 * nothing in memory after the call.
 */
export async function withEither<T>(
  one: AbortSignal | undefined,
  other: AbortSignal,
  use: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const ends = [one, other].map((signal) => {
    const abort = () => controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    return () => signal?.removeEventListener("abort", abort);
  });
  try {
    return await use(controller.signal);
  } finally {
    for (const end of ends) end();
  }
}
