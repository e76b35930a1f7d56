import type { FleetEngine, StoredHost } from "./engine.js";

/** How many hosts are read at a time: together they hold at most 64 MiB. */
const CONCURRENCY = 16;

/** Reads the state of hosts, one read of a host at a time. A request during a read causes one more read. */
export class HostReads {
  readonly #waiting = new Set<string>();
  /** The hosts that are being read, and whether to read them again. */
  readonly #running = new Map<string, boolean>();
  #idle: (() => void)[] = [];
  #failure: unknown;

  /**
   * @param onRead is called with each state
   * @param onFailure is called if the engine fails; all requests are then dropped
   */
  constructor(
    private readonly engine: Pick<FleetEngine, "read">,
    private readonly onRead: (host: string, stored: StoredHost | "invalid" | undefined) => void,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  /** Reads a host soon. */
  request(host: string): void {
    if (this.#running.has(host)) this.#running.set(host, true);
    else this.#waiting.add(host);
    this.#start();
  }

  /** Whether a host waits or is being read: the state that comes may be older than a message about it. */
  has(host: string): boolean {
    return this.#waiting.has(host) || this.#running.has(host);
  }

  /** The number of hosts that wait or are being read. */
  get pending(): number {
    return this.#waiting.size + this.#running.size;
  }

  /** Waits until there is nothing to read. Rejects if the engine has failed since the last call. */
  async settled(): Promise<void> {
    this.#failure = undefined;
    if (this.pending > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Drops all waiting hosts. */
  clear(): void {
    this.#waiting.clear();
  }

  #start(): void {
    for (const host of this.#waiting) {
      if (this.#running.size >= CONCURRENCY) return;
      this.#waiting.delete(host);
      this.#running.set(host, false);
      void this.#read(host);
    }
  }

  async #read(host: string): Promise<void> {
    try {
      this.onRead(host, await this.engine.read(host));
    } catch (error) {
      this.#failure = error;
      this.#waiting.clear();
      this.onFailure(error);
    }
    if (this.#running.get(host) && this.#failure === undefined) this.#waiting.add(host);
    this.#running.delete(host);
    this.#start();
    if (this.pending > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
