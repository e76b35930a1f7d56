/** Shares the event loop between connections, and keeps it awake for the next request. */

/** The maximum number of bytes of replies of a connection in one round. */
const MAX_BYTES = 2 ** 21;

/** The maximum time of a connection in one round, in milliseconds. */
const MAX_TIME = 4;

/** The number of the current round of the event loop. Counts only rounds in which connections have work. */
let round = 0;
let isScheduled = false;

/** Functions that continue connections with more work. */
const waiting: (() => void)[] = [];

/** Begins a round and continues one connection, so that many busy ones keep the event loop no longer than one does. */
function nextRound(): void {
  isScheduled = false;
  round += 1;
  const resume = waiting.shift();
  if (waiting.length > 0) schedule();
  resume?.();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(nextRound);
}

/** The share of a connection: it limits the work of the connection in one round. */
export class FairShare {
  #round = -1;
  #end = 0;
  #bytes = 0;
  #isWaiting = false;

  /** Whether the connection must yield to others. */
  get isUsed(): boolean {
    schedule();
    if (this.#round === round) return this.#bytes > MAX_BYTES || performance.now() > this.#end;
    this.#round = round;
    this.#end = performance.now() + MAX_TIME;
    this.#bytes = 0;
    return false;
  }

  /** Counts bytes of replies. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Calls a function when it is the turn of the connection again. Further calls before that have no effect. */
  wait(resume: () => void): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    waiting.push(() => {
      this.#isWaiting = false;
      resume();
    });
    schedule();
  }
}

/** How long the thread polls for the next request before it sleeps, in milliseconds. QEMU polls for 0.032 ms. */
const POLL_TIME = 0.05;

let until = 0;
let isPolling = false;

/**
 * Keeps the event loop awake for a moment: a client that sends one request at a time sends the next one sooner than the
 * system could wake a sleeping thread.
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
