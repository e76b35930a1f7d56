// Limits the rate of sending.

/** Milliseconds between two writes at a limited rate. */
const TICK = 2;

/** Milliseconds of delay that a sender may catch up on. */
const SLACK = 100;

/** @type {(() => void)[]} */
let waiting = [];

/** Waits for the next tick. All waiters share one timer. @returns {Promise<void>} */
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

/** A rate that consecutive responses share. */
export class Pace {
  /** When everything would have been sent at the rate. */
  #sentUntil = 0;

  /** @param {number} bytesPerSecond */
  constructor(bytesPerSecond) {
    this.bytesPerSecond = bytesPerSecond;
  }

  /** Starts a response: idle time does not count. */
  begin() {
    this.#sentUntil = Math.max(this.#sentUntil, performance.now());
  }

  /**
   * Returns how many bytes may be sent now, or 0 if waiting for more is better.
   *
   * @param {number} wanted
   */
  allowance(wanted) {
    const now = performance.now();
    this.#sentUntil = Math.max(this.#sentUntil, now - SLACK);
    const allowed = Math.floor(((now - this.#sentUntil) / 1000) * this.bytesPerSecond);
    const min = Math.max(1, (this.bytesPerSecond * TICK) / 1000);
    return allowed < Math.min(wanted, min) ? 0 : Math.min(wanted, allowed);
  }

  /** Counts sent bytes. @param {number} bytes */
  spend(bytes) {
    this.#sentUntil += (bytes / this.bytesPerSecond) * 1000;
  }
}
