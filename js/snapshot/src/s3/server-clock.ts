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
