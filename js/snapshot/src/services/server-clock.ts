/** The clocks of services, by which times are compared and requests are signed. */

/** The clock of a server, which may differ from that of this machine by any amount. */
export class ServerClock {
  /** The difference to the monotonic clock of this process, in milliseconds. */
  #offset: number | undefined;

  /**
   * Notes the `Date` of a response. It lacks the fraction of a second, and the response took time to arrive: the largest
   * difference is the most accurate, and the clock never runs ahead of the server's.
   */
  observe(date: string | undefined): void {
    const time = Date.parse(date ?? "");
    if (Number.isNaN(time)) return;
    const offset = time - performance.now();
    if (this.#offset === undefined || offset > this.#offset) this.#offset = offset;
  }

  /** Returns the time of the server in milliseconds since 1970, or undefined if no response had a `Date`. */
  now(): number | undefined {
    return this.#offset === undefined ? undefined : performance.now() + this.#offset;
  }
}

/** The clocks of services, by the origin of their URLs. */
const clocks = new Map<string, ServerClock>();

/** Returns the clock of the service with an origin, which all clients in this process share. */
export function clockOf(origin: string): ServerClock {
  const clock = clocks.get(origin) ?? new ServerClock();
  clocks.set(origin, clock);
  return clock;
}

/** By how much a clock may differ from that of a service, in milliseconds. Services accept signatures up to 15 minutes old. */
const MAX_SKEW = 300_000;

/** Returns the time of the service to sign a request with, if the clock of this machine is known to differ too much. */
export function signingTime(origin: string): Date | undefined {
  const time = clocks.get(origin)?.now();
  return time === undefined || Math.abs(time - Date.now()) < MAX_SKEW ? undefined : new Date(time);
}
