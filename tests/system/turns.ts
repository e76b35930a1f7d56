/** Doing the same many times, some of them at a time. */

/** How much is done at a time. */
const AT_A_TIME = 8;

/** Does something so many times, some at a time. */
export async function inTurns(times: number, act: (index: number) => Promise<void>): Promise<void> {
  let begun = 0;
  const work = async () => {
    while (begun < times) {
      begun += 1;
      await act(begun - 1);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}
