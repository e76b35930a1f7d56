/** Shares the thread between connections, and keeps it awake for the next request. */

/** After this many bytes of replies, or this many milliseconds, others have their turn. */
const [MAX_BYTES, MAX_TIME] = [2 ** 21, 4] as const;

/** The number of the current round of the event loop, as far as connections had something to do in it. */
let round = 0;
let isScheduled = false;

/** Begin the next turns of connections that have more to do. */
const waiting: (() => void)[] = [];

/** Begins a round, and one of the turns: many busy connections together do not keep the event loop longer than one. */
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

/** The turns of a connection, which handles what it can in each round, whatever calls it. */
export class Turn {
  #round = -1;
  #end = 0;
  #bytes = 0;
  #isWaiting = false;

  /** Whether others have their turn first. */
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

  /** Calls a function when it is the turn of the connection again. Calls before that have no effect. */
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
