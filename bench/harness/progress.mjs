// Progress of a benchmark on standard error; standard output has its results as JSON.

/** @param {string} text */
export function log(text) {
  process.stderr.write(`  ${text}\n`);
}

/** @param {number} bytes */
export function formatSize(bytes) {
  return bytes < 2 ** 30 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 30} GiB`;
}

/** @param {number} seconds */
export function formatDuration(seconds) {
  return seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

/**
 * Returns a function that logs the progress of rounds and the time left. Call it after each round with the number of
 * rounds that are done.
 *
 * @param {string} name
 * @param {number} rounds
 * @param {number} [every] logs one round of this many
 */
export function roundLogger(name, rounds, every = 1) {
  const begin = performance.now();
  let calls = 0;
  return (/** @type {number} */ done) => {
    calls += 1;
    if (done % every !== 0) return;
    const left = ((performance.now() - begin) / calls) * (rounds - done);
    log(`${name}: round ${done} of ${rounds}, ${formatDuration(left / 1000)} left`);
  };
}
