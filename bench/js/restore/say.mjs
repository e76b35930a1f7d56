// Saying what is done, beside the results, which are printed as JSON.

/** @param {string} what */
export function say(what) {
  process.stderr.write(`  ${what}\n`);
}

/**
 * How long something is, for people.
 *
 * @param {number} milliseconds
 */
export function duration(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
