// Saying what is done, beside the results, which are printed as JSON.

/** @param {string} what */
export function say(what) {
  process.stderr.write(`  ${what}\n`);
}

/** A size for people. @param {number} bytes */
export function sizeName(bytes) {
  return bytes < 2 ** 30 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 30} GiB`;
}

/**
 * How long something is, for people.
 *
 * @param {number} milliseconds
 */
function duration(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}

/**
 * A function that is to be called after each round with the number of those that are done, and tells how long the
 * others will take.
 *
 * @param {string} what
 * @param {number} rounds
 * @param {number} [every] one round of so many is told of
 */
export function roundTeller(what, rounds, every = 1) {
  const begin = performance.now();
  let calls = 0;
  return (/** @type {number} */ done) => {
    calls += 1;
    if (done % every !== 0) return;
    const left = ((performance.now() - begin) / calls) * (rounds - done);
    say(`${what}: round ${done} of ${rounds}, ${duration(left)} left`);
  };
}
