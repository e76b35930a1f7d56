/** How late a timer may be, in milliseconds, before the event loop counts as blocked. */
const MAX_LATENESS = 100;

/**
 * Limits how long each step of a transfer takes.
 *
 * Node runs timers before it reads sockets. After the event loop was blocked, a timer may fire although bytes
 * wait in the socket. A step therefore expires only after the sockets have been read once more, and, if the
 * timer was late, only after another full period.
 */
export class StepTimer {
  readonly #expire: (message: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #check: NodeJS.Immediate | undefined;
  #milliseconds = 0;
  #message = "";
  #due = 0;
  /** Whether the step got another period: it gets one only. */
  #isExtended = false;

  /** @param expire is called with a message when a step takes too long */
  constructor(expire: (message: string) => void) {
    this.#expire = expire;
  }

  /**
   * Starts a step, which ends the one before.
   *
   * @param what what has to happen in that time, such as "response"
   */
  start(milliseconds: number, what: string): void {
    this.stop();
    this.#milliseconds = milliseconds;
    this.#message = `no ${what} within ${milliseconds} ms`;
    this.#isExtended = false;
    this.#due = performance.now() + milliseconds;
    this.#timer = setTimeout(() => this.#onTimer(), milliseconds);
  }

  /** Gives the current step its full time again. */
  refresh(): void {
    clearImmediate(this.#check);
    this.#isExtended = false;
    this.#rearm();
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#check);
  }

  #onTimer(): void {
    const isLate = performance.now() - this.#due > MAX_LATENESS;
    if (isLate && !this.#isExtended) {
      this.#isExtended = true;
      this.#rearm();
    } else {
      this.#check = setImmediate(() => this.#expire(this.#message));
    }
  }

  #rearm(): void {
    this.#due = performance.now() + this.#milliseconds;
    this.#timer?.refresh();
  }
}
