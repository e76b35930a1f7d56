// Measures actions for the tables of the demo.

/** Measures an action, in milliseconds. @param {() => unknown} action */
export async function timed(action) {
  const start = performance.now();
  await action();
  return Math.round(performance.now() - start);
}

/** @param {number} bytes */
export const megabytes = (bytes) => Math.round(bytes / 1e6);
