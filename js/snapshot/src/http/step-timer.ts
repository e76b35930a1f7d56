import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";

/** How late a timer may be, in milliseconds, before the event loop counts as blocked. */
const MAX_LATENESS = 100;

/**
 * Limits how long each step of a transfer takes.
 *
 * Node runs timers before it reads sockets. After the event loop was blocked, a timer may fire although bytes wait in
 * the socket. A step therefore expires only after the sockets have been read once more. The server may also be silent
 * for as long as the event loop was blocked: it resends what the full socket dropped, and doubles the wait each time. A
 * blocked step and the steps after it do not expire before that.
 */
export class StepTimer {
  readonly #expire: (message: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #check: NodeJS.Immediate | undefined;
  #milliseconds = 0;
  #message = "";
  #due = Infinity;
  /** Until when the server may be silent because the event loop was blocked. */
  #graceEnd = 0;
  /** Whether the step was given that time, which it gets only once without progress. */
  #isExtended = false;

  /** @param expire is called with a message when a step takes too long */
  constructor(expire: (message: string) => void) {
    this.#expire = expire;
  }

  /**
   * Starts a step, which ends the one before.
   *
   * @param what the event that must happen in that time, such as "response"
   */
  start(milliseconds: number, what: string): void {
    this.stop();
    this.#milliseconds = milliseconds;
    this.#message = `no ${what} within ${milliseconds} ms`;
    this.#arm(milliseconds);
  }

  /** Gives the current step its full time again. */
  refresh(): void {
    this.#checkLateness();
    clearImmediate(this.#check);
    if (this.#isExtended) {
      clearTimeout(this.#timer);
      this.#arm(this.#milliseconds);
    } else {
      this.#due = performance.now() + this.#milliseconds;
      this.#timer?.refresh();
    }
  }

  stop(): void {
    this.#checkLateness();
    this.#due = Infinity;
    this.#isExtended = false;
    clearTimeout(this.#timer);
    clearImmediate(this.#check);
  }

  #arm(milliseconds: number, isExtended = false): void {
    this.#isExtended = isExtended;
    this.#due = performance.now() + milliseconds;
    this.#timer = setTimeout(() => this.#onTimer(), milliseconds);
  }

  #onTimer(): void {
    this.#checkLateness();
    const grace = this.#graceEnd - performance.now();
    if (grace > 0 && !this.#isExtended) this.#arm(grace, true);
    else this.#check = setImmediate(() => this.#expire(this.#message));
  }

  /** Notices that the event loop was blocked: the timer has not fired yet, or fires now, too late. */
  #checkLateness(): void {
    const now = performance.now();
    const lateness = now - this.#due;
    if (lateness > MAX_LATENESS) this.#graceEnd = now + lateness + this.#milliseconds;
  }
}

/** Calls `act` when a request has a connection, TLS included. */
export function onConnected(request: ClientRequest, act: () => void): void {
  const event = request.protocol === "https:" ? "secureConnect" : "connect";
  request.once("socket", (socket: Socket) => {
    if (socket.connecting) socket.once(event, act);
    else act();
  });
}
