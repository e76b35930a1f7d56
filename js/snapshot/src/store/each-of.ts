/** Calls `use` with each item, several at a time. Rejects with the first error, when all calls have ended. */
export async function eachOf<T>(
  items: AsyncIterable<T> | Iterable<T>,
  concurrency: number,
  use: (item: T) => Promise<void>,
): Promise<void> {
  const iterator =
    Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let isEnded = false;
  /** Generators answer one call after the other. */
  const run = async () => {
    while (!isEnded) {
      const next = await iterator.next();
      if (next.done === true) return;
      await use(next.value);
    }
  };
  const ends = await Promise.allSettled(
    Array.from({ length: concurrency }, () =>
      run().catch((error: unknown) => {
        isEnded = true;
        throw error;
      }),
    ),
  );
  await iterator.return?.();
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
