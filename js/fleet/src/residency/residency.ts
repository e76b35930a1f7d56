import { setTimeout as sleep } from "node:timers/promises";

import { checkedOptions, checkFunction, checkId, checkInteger, checkNoOthers } from "../check.js";
import { MAX_HOSTS } from "../placement/hosts.js";
import {
  type FleetEngine,
  type HostStatus,
  isIdentity,
  isText,
  parseMessage,
  type StoredHost,
} from "./engine.js";
import { backoff, ErrorLimit, engineError, tell } from "./engine-failures.js";
import { type Effect, FleetPicture } from "./fleet-picture.js";
import { HostReads } from "./host-reads.js";
import type { RedisClient, RedisCluster } from "./redis-client.js";
import { engineOf } from "./redis-engine.js";

/** Options of `Residency.watch`. */
export interface ResidencyOptions {
  /** A connected client of the package `redis`, of a server or of a cluster, or an engine. Required. */
  readonly client: RedisClient | RedisCluster | FleetEngine;
  /**
   * How long the picture of the images stays valid while the engine is away, in milliseconds. From 0 to 3,600,000.
   * Default: 60,000.
   */
  readonly maxStale?: number | undefined;
  /**
   * The maximum number of images of all hosts together; an image counts once for each host. More are ignored. From 1 to
   * 67,108,864. Each takes about 80 bytes. Default: 4,194,304.
   */
  readonly maxImages?: number | undefined;
  /** Called with an `ERR_ENGINE` if the engine fails, or holds something invalid. Default: nothing. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** The last report of a host. Usable as a `Host`. */
export interface ResidencyHost extends HostStatus {
  /** The ID of the host. */
  readonly id: string;
  /** The number of images in its cache. */
  readonly images: number;
}

/** The delay before a retry of the engine, in milliseconds: the first one, and the maximum. */
const FIRST_DELAY = 100;
const MAX_DELAY = 5_000;

/** The time between two searches for hosts whose state has ended, in milliseconds. */
const EXPIRY_INTERVAL = 1_000;

const NOBODY: ReadonlySet<string> = new Set();

/**
 * A picture of a fleet: which hosts have which images, as `reportResidency` publishes them.
 *
 * Without the engine nothing fails: after `maxStale`, images are on no known host, and hosts keep their last known
 * state.
 *
 * @example
 * const residency = await Residency.watch({ client });
 * const { host } = placement(digest, residency.hosts(), { residents: residency.hostsOf(digest) });
 * await residency.close();
 */
export class Residency {
  readonly #engine: FleetEngine;
  readonly #maxStale: number;
  readonly #onError: ((error: Error) => void) | undefined;
  readonly #limit: ErrorLimit;
  readonly #picture: FleetPicture;
  readonly #reads: HostReads;
  readonly #closing = new AbortController();
  readonly #expiry: NodeJS.Timeout;
  /** Ends the subscription that is open. */
  #end: (cause: unknown) => void = () => {};
  #isCurrent = false;
  /** When the picture was last current. */
  #currentAt = performance.now();
  #running: Promise<void> | undefined;

  private constructor(options: ResidencyOptions) {
    const {
      client,
      maxStale = 60_000,
      maxImages = 2 ** 22,
      onError,
      ...others
    } = checkedOptions(options);
    checkNoOthers(others);
    checkInteger("maxStale", maxStale, 0, 3_600_000);
    checkInteger("maxImages", maxImages, 1, 2 ** 26);
    checkFunction("onError", onError);
    this.#engine = engineOf(client);
    this.#maxStale = maxStale;
    this.#onError = onError;
    this.#limit = new ErrorLimit(onError);
    this.#picture = new FleetPicture(MAX_HOSTS, maxImages);
    this.#reads = new HostReads(
      this.#engine,
      (host, stored) => this.#take(host, stored),
      (error) => this.#end(error),
    );
    this.#expiry = setInterval(() => {
      // While the engine is away, a silent host may be alive: the engine decides, by its clock.
      if (!this.#isCurrent) return;
      for (const host of this.#picture.overdue(performance.now())) this.#reads.request(host);
    }, EXPIRY_INTERVAL);
  }

  /**
   * Starts to watch a fleet. Resolves when the picture is complete or the engine has failed; a failure is retried in
   * the background.
   *
   * @throws {FleetError} `ERR_ARGUMENT`
   */
  static async watch(options: ResidencyOptions): Promise<Residency> {
    const residency = new Residency(options);
    await new Promise<void>((resolve) => {
      residency.#running = residency.#run(resolve);
    });
    return residency;
  }

  /** Whether the picture follows the fleet: not while the engine is away, or is being read. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /**
   * The IDs of the hosts that have an image; none if the engine is away for longer than `maxStale`. The set may change
   * later: use it at once.
   *
   * @throws {FleetError} `ERR_ARGUMENT`
   */
  hostsOf(identity: string): ReadonlySet<string> {
    checkId("identity", identity);
    const isStale = !this.#isCurrent && performance.now() - this.#currentAt > this.#maxStale;
    return isStale || !isIdentity(identity) ? NOBODY : this.#picture.hostsOf(identity);
  }

  /** Returns the last report of each host. */
  hosts(): ResidencyHost[] {
    return this.#picture.hosts();
  }

  /** Stops watching. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#expiry);
    this.#reads.clear();
    this.#end(undefined);
    this.#lose();
    await this.#running;
  }

  /** Calls {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Follows the engine until closed, with retries.
   *
   * @param onTried called when the picture is complete, and after each attempt
   */
  async #run(onTried: () => void): Promise<void> {
    const { signal } = this.#closing;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        await this.#follow(() => {
          attempt = 0;
          onTried();
        });
      } catch (cause) {
        if (!signal.aborted) tell(this.#onError, engineError("the picture of the fleet", cause));
      }
      onTried();
      const delay = backoff(attempt, FIRST_DELAY, MAX_DELAY);
      await sleep(delay, undefined, { signal }).catch(() => {});
    }
  }

  /** Subscribes and reads everything. Rejects when that fails or the subscription ends. */
  async #follow(onCurrent: () => void): Promise<void> {
    const ended = new Promise<never>((_, reject) => {
      this.#end = reject;
    });
    ended.catch(() => {});
    const unsubscribe = await this.#engine.subscribe((text) => this.#hear(text), this.#end);
    try {
      await Promise.race([this.#readAll(), ended]);
      this.#isCurrent = true;
      onCurrent();
      await ended;
    } finally {
      this.#lose();
      unsubscribe();
    }
  }

  #lose(): void {
    if (this.#isCurrent) this.#currentAt = performance.now();
    this.#isCurrent = false;
    this.#reads.clear();
  }

  /** Reads all hosts, including known ones that the engine may have lost. */
  async #readAll(): Promise<void> {
    const before = [...this.#picture.ids()];
    const hosts = await this.#engine.hosts();
    if (hosts.length > MAX_HOSTS) this.#limit.report(`expected at most ${MAX_HOSTS} hosts`);
    for (const host of [...before, ...hosts.slice(0, MAX_HOSTS)]) {
      if (isText(host)) this.#reads.request(host);
      else this.#limit.report("the ID of a host is too long");
    }
    await this.#reads.settled();
  }

  #hear(text: unknown): void {
    const message = parseMessage(text);
    if (message === undefined) this.#limit.report("a message about a host is invalid");
    else {
      const effect = this.#picture.apply(message, performance.now());
      // A read that is running may return its state from before.
      const isAgain = message.kind === "gone" && this.#reads.has(message.host);
      this.#handle(message.host, isAgain ? "read" : effect);
    }
  }

  #take(host: string, stored: StoredHost | "invalid" | undefined): void {
    if (stored === undefined) this.#picture.delete(host);
    else if (stored === "invalid") this.#discard(host);
    else {
      const effect = this.#picture.replace(stored, performance.now());
      if (effect === "read") this.#discard(host);
      else this.#handle(host, effect);
    }
  }

  #handle(host: string, effect: Effect): void {
    if (effect === "full") this.#limit.report("there are too many hosts or images");
    // A stranger may name any number of hosts.
    if (effect === "read" && this.#reads.pending < MAX_HOSTS) this.#reads.request(host);
  }

  #discard(host: string): void {
    this.#picture.delete(host);
    this.#limit.report(`the state of the host ${JSON.stringify(host)} is invalid`);
  }
}
