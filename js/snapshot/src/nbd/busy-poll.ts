/** For how long the thread looks for the next request before it sleeps, in milliseconds. QEMU polls for 0.032 ms. */
const POLL_TIME = 0.05;

let until = 0;
let isPolling = false;

/**
 * Keeps the event loop from sleeping for a moment: a client that sends its requests one by one has the next one ready
 * sooner than the system wakes a thread.
 */
export function busyPoll(): void {
  until = performance.now() + POLL_TIME;
  if (isPolling) return;
  isPolling = true;
  setImmediate(poll);
}

function poll(): void {
  isPolling = performance.now() < until;
  if (isPolling) setImmediate(poll);
}
