/** Shares the thread between connections, and keeps it awake for the next request. */

/** The limits of a turn: bytes of replies, and milliseconds. */
const [MAX_BYTES, MAX_TIME] = [2 ** 21, 4] as const;

/** The number of the current round of the event loop. Counts only rounds in which connections have work. */
let round = 0;
let isScheduled = false;

/** Functions that begin the next turns of connections with more work. */
const waiting: (() => void)[] = [];

/** Begins a round and one turn, so that many busy connections keep the event loop no longer than one does. */
function nextRound(): void {
  isScheduled = false;
  round += 1;
  const begin = waiting.shift();
  if (waiting.length > 0) schedule();
  begin?.();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(nextRound);
}

/** The turns of a connection: each limits the work of the connection in one round. */
export class Turn {
  #round = -1;
  #end = 0;
  #bytes = 0;
  #isWaiting = false;

  /** Whether the connection must yield to others. */
  get isOver(): boolean {
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

  /** Calls a function at the next turn of the connection. Further calls before that turn have no effect. */
  wait(begin: () => void): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    waiting.push(() => {
      this.#isWaiting = false;
      begin();
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
