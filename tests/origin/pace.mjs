// Sending no faster than at a rate.

/** Milliseconds between two times that something is sent at a limited rate. */
const TICK = 2;

/** Milliseconds that a sender that was held up may make up for. */
const SLACK = 100;

/** @type {(() => void)[]} */
let waiting = [];

/** Waits for the next tick. One timer serves all who wait. @returns {Promise<void>} */
export function tick() {
  return new Promise((resolve) => {
    if (waiting.push(resolve) > 1) return;
    setTimeout(() => {
      const resolved = waiting;
      waiting = [];
      for (const resolve of resolved) resolve();
    }, TICK);
  });
}

/** A rate that answers share, one after another. */
export class Pace {
  /** When all that was sent would have left, at the rate. */
  #sentUntil = 0;

  /** @param {number} bytesPerSecond */
  constructor(bytesPerSecond) {
    this.bytesPerSecond = bytesPerSecond;
  }

  /** Begins an answer: time in which nothing was to be sent does not count. */
  begin() {
    this.#sentUntil = Math.max(this.#sentUntil, performance.now());
  }

  /**
   * How many of some bytes may be sent now: none, if it is so few that to wait for more is better.
   *
   * @param {number} wanted
   */
  allowance(wanted) {
    const now = performance.now();
    this.#sentUntil = Math.max(this.#sentUntil, now - SLACK);
    const allowed = Math.floor(((now - this.#sentUntil) / 1000) * this.bytesPerSecond);
    const fewest = Math.max(1, (this.bytesPerSecond * TICK) / 1000);
    return allowed < Math.min(wanted, fewest) ? 0 : Math.min(wanted, allowed);
  }

  /** Counts what is sent. @param {number} bytes */
  spend(bytes) {
    this.#sentUntil += (bytes / this.bytesPerSecond) * 1000;
  }
}
