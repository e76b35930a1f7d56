/** Waits. @throws the reason of the signal as soon as it is aborted */
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
 * What a promise brings, or the reason of the signal as soon as it is aborted. What the promise is
 * rejected with after that is no surprise.
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
 * Has `use` work with a signal that is aborted as soon as one of two is. That of the system would keep what
 * it is made of for as long as either of them is there.
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
