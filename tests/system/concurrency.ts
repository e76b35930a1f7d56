/** Bounded concurrency. */

const MAX_CONCURRENT = 8;

/** Calls `run` `count` times, at most {@link MAX_CONCURRENT} calls at a time. */
export async function runConcurrently(
  count: number,
  run: (index: number) => Promise<void>,
): Promise<void> {
  let started = 0;
  const work = async () => {
    while (started < count) {
      started += 1;
      await run(started - 1);
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
}
