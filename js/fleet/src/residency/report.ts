import { randomBytes } from "node:crypto";
import type { ImageCache } from "@hedgerow/snapshot";

import {
  checkedOptions,
  checkFunction,
  checkId,
  checkInteger,
  checkNoOthers,
  checkNumber,
  invalid,
} from "../check.js";
import { FleetError } from "../error.js";
import { type FleetEngine, type HostStatus, MAX_CHANGES, MAX_TTL } from "./engine.js";
import { backoff, engineError, tell } from "./engine-failures.js";
import { type Difference, HeldImages } from "./held-images.js";
import type { RedisClient, RedisCluster } from "./redis-client.js";
import { engineOf } from "./redis-engine.js";

/** The part of the state of a host that only the platform knows. */
export interface ReportedStatus {
  /** Its load, such as the number of sandboxes that run on it. From 0 to 1e12. Default: 0. */
  readonly load?: number | undefined;
  /** Its capacity relative to other hosts. From 1e-6 to 1e12. Default: 1. */
  readonly capacity?: number | undefined;
  /** Whether sandboxes may start on it. Default: `true`. */
  readonly available?: boolean | undefined;
}

/** Options of `reportResidency`. */
export interface ReportOptions {
  /** A connected client of the package `redis`, of a server or of a cluster, or an engine. Required. */
  readonly client: RedisClient | RedisCluster | FleetEngine;
  /** The ID of this host, of 1 to 256 characters. It must stay the same when the host restarts. Required. */
  readonly host: string;
  /**
   * How long the report is valid without a heartbeat, in milliseconds. There are three heartbeats in that time. From 300
   * to 3,600,000. Default: 30,000.
   */
  readonly ttl?: number | undefined;
  /** How long changes are collected before they are published, in milliseconds. From 1 to 60,000. Default: 200. */
  readonly interval?: number | undefined;
  /**
   * The time between two listings of the cache, in milliseconds, which find changes that caused no event. From 100 to
   * 86,400,000. Default: 60,000.
   */
  readonly listInterval?: number | undefined;
  /** Returns the state of the host, with each change and heartbeat. Default: a load of 0, a capacity of 1. */
  readonly status?: (() => ReportedStatus) | undefined;
  /**
   * Called with an `ERR_ENGINE` if the engine fails, an `ERR_ARGUMENT` if `status` returns something invalid, and the
   * errors of `status` and of the cache. The report continues. Default: nothing.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** A report of a cache to a fleet. */
export interface ResidencyReport {
  /** Publishes the state of the host soon, such as after a sandbox has started. */
  update(): void;
  /** Removes the host from the fleet, and ends the report, within five seconds. Never rejects. */
  close(): Promise<void>;
  /** Calls {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Reports to a fleet which images a cache has, and keeps the report up to date until it is closed.
 *
 * Resolves when the report is published or the engine has failed; a failure is retried in the background. The cache is
 * not affected. Close the report before the cache.
 *
 * Images that other processes put into the directory are reported, too: one process of a host reports for all.
 *
 * @throws {FleetError} `ERR_ARGUMENT`
 * @example
 * const cache = await ImageCache.open("/var/cache/images", { maxBytes: 50e9 });
 * const report = await reportResidency(cache, { client, host: hostname(), status: () => ({ load: running.size }) });
 * await report.close();
 */
export async function reportResidency(
  cache: ImageCache,
  options: ReportOptions,
): Promise<ResidencyReport> {
  const reporter = new Reporter(cache, checkedReport(cache, options));
  await reporter.tried;
  return reporter;
}

/** Options of `reportResidency`, with defaults. */
interface CheckedReport {
  readonly engine: FleetEngine;
  readonly host: string;
  readonly ttl: number;
  readonly interval: number;
  readonly listInterval: number;
  readonly status: () => ReportedStatus;
  readonly onError: ((error: Error) => void) | undefined;
}

/** Returns the options with defaults. @throws {FleetError} `ERR_ARGUMENT` */
function checkedReport(cache: ImageCache, options: ReportOptions): CheckedReport {
  if (typeof cache?.entries !== "function" || typeof cache.directory !== "string") {
    throw invalid("cache", "an ImageCache", typeof cache);
  }
  const {
    client,
    host,
    ttl = 30_000,
    interval = 200,
    listInterval = 60_000,
    status = () => ({}),
    onError,
    ...others
  } = checkedOptions(options);
  checkNoOthers(others);
  checkId("host", host);
  checkInteger("ttl", ttl, 300, MAX_TTL);
  checkInteger("interval", interval, 1, 60_000);
  checkInteger("listInterval", listInterval, 100, 86_400_000);
  checkFunction("status", status);
  checkFunction("onError", onError);
  return { engine: engineOf(client), host, ttl, interval, listInterval, status, onError };
}

/** Returns a state with defaults. @throws {FleetError} `ERR_ARGUMENT` */
function checkedStatus(status: ReportedStatus): Required<ReportedStatus> & {
  readonly load: number;
  readonly capacity: number;
  readonly available: boolean;
} {
  if (typeof status !== "object" || status === null) {
    throw invalid("status", "an object", status === null ? "null" : typeof status);
  }
  const { load = 0, capacity = 1, available = true } = status;
  checkNumber("status.load", load, 0, 1e12);
  checkNumber("status.capacity", capacity, 1e-6, 1e12);
  if (typeof available !== "boolean") {
    throw invalid("status.available", "true or false", typeof available);
  }
  return { load, capacity, available };
}

/** The maximum time that `close` takes, in milliseconds, whatever the engine does. */
const CLOSE_TIMEOUT = 5_000;

/** The minimum delay before a retry of the engine, or of a listing of the cache, in milliseconds. */
const ENGINE_DELAY = 200;
const LIST_DELAY = 500;

const NO_STATUS = { load: 0, capacity: 1, available: true, bytes: 0, hits: 0, misses: 0 };

/** Publishes the images of a cache until it is closed. If the engine lacks a difference, it gets a full report. */
class Reporter implements ResidencyReport {
  /** Resolves after the first attempt to publish. */
  readonly tried: Promise<void>;
  readonly #cache: ImageCache;
  readonly #options: CheckedReport;
  readonly #images: HeldImages;
  readonly #epoch = randomBytes(8).toString("hex");
  #seq = 0;
  /** Whether the engine may have another state than the last one that was published. */
  #mustPublishAll = true;
  #mustUpdate = false;
  #status: HostStatus = NO_STATUS;
  /** Monotonic times of the next heartbeat and the next listing, in milliseconds. */
  #heartbeatAt = 0;
  #listAt = Number.POSITIVE_INFINITY;
  readonly #pause = new Pause();
  #closed: Promise<void> | undefined;

  constructor(cache: ImageCache, options: CheckedReport) {
    this.#cache = cache;
    this.#options = options;
    this.#images = new HeldImages(cache, () => this.#pause.wake());
    this.tried = new Promise((resolve) => {
      void this.#run(resolve);
    });
  }

  update(): void {
    this.#mustUpdate = true;
    this.#pause.wake();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { engine, host } = this.#options;
    this.#images.close();
    this.#pause.close();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new FleetError("ERR_ENGINE", "the engine does not answer");
      timer = setTimeout(() => reject(error), CLOSE_TIMEOUT);
    });
    try {
      await Promise.race([engine.remove(host, this.#epoch), late]);
    } catch (error) {
      tell(this.#options.onError, engineError("the host could not be removed", error));
    }
    clearTimeout(timer);
  }

  async #run(onTried: () => void): Promise<void> {
    const { interval, ttl } = this.#options;
    await this.#list();
    let failures = 0;
    while (this.#closed === undefined) {
      try {
        await this.#step();
        failures = 0;
      } catch (error) {
        failures += 1;
        this.#tell(error);
      }
      onTried();
      if (failures > 0) {
        await this.#pause.wait(backoff(failures - 1, ENGINE_DELAY, ttl / 3));
        continue;
      }
      if (!this.#isDue()) {
        await this.#pause.wait(Math.min(this.#heartbeatAt, this.#listAt) - performance.now(), true);
      }
      if (this.#isDue()) await this.#pause.wait(interval);
    }
    onTried();
  }

  /** Whether there is more to publish than a heartbeat. */
  #isDue(): boolean {
    return this.#images.isTouched || this.#mustUpdate;
  }

  /** Publishes whatever is due. @throws {FleetError} `ERR_ENGINE` */
  async #step(): Promise<void> {
    const now = performance.now();
    if (this.#images.needsListing) this.#listSoon();
    // Other processes may hold the lock of the cache: heartbeats do not wait for it.
    if (now >= this.#listAt) void this.#list();
    const isHeartbeat = now >= this.#heartbeatAt;
    if (isHeartbeat) void this.#measure();
    const difference = await this.#difference();
    const isChanged = difference.added.length + difference.removed.length > 0;
    if (!isChanged && !isHeartbeat && !this.#mustUpdate && !this.#mustPublishAll) return;
    this.#mustUpdate = false;
    this.#ask();
    await this.#publish(difference);
    this.#heartbeatAt = performance.now() + this.#options.ttl / 3;
  }

  async #publish({ added, removed }: Difference): Promise<void> {
    const { engine, host, ttl } = this.#options;
    const version = () => {
      this.#seq += 1;
      const count = this.#images.all.size;
      return { host, epoch: this.#epoch, seq: this.#seq, ttl, status: this.#status, count };
    };
    const isSmall = added.length + removed.length <= MAX_CHANGES;
    if (isSmall && !this.#mustPublishAll) {
      // Until it is confirmed, the engine may have either state.
      this.#mustPublishAll = true;
      if (this.#closed !== undefined) return;
      if (await engine.publish({ ...version(), isFull: false, added, removed })) {
        this.#mustPublishAll = false;
        return;
      }
      const what = "the engine has lost the state of this host, or another process reports it, too";
      this.#tell(new FleetError("ERR_ENGINE", what));
    }
    this.#mustPublishAll = true;
    if (this.#closed !== undefined) return;
    await engine.publish({ ...version(), isFull: true, added: [...this.#images.all], removed: [] });
    this.#mustPublishAll = false;
  }

  /** Returns the changes of the cache. If it fails, the known images remain until the next listing. */
  async #difference(): Promise<Difference> {
    try {
      return await this.#images.difference();
    } catch (error) {
      this.#tell(error);
      this.#listSoon();
      return { added: [], removed: [] };
    }
  }

  #listSoon(): void {
    // Not while it is being listed.
    if (this.#listAt === Number.POSITIVE_INFINITY) return;
    this.#listAt = Math.min(this.#listAt, performance.now() + LIST_DELAY);
  }

  /** Lists the cache. */
  async #list(): Promise<void> {
    this.#listAt = Number.POSITIVE_INFINITY;
    await this.#images.list().catch((error) => this.#tell(error));
    this.#listAt = performance.now() + this.#options.listInterval;
  }

  /** Asks the cache for its counters. */
  async #measure(): Promise<void> {
    try {
      const { bytes, totals } = await this.#cache.stats();
      this.#status = { ...this.#status, bytes, hits: totals.hits, misses: totals.misses };
    } catch {
      // The next listing reports the same error.
    }
  }

  /** Asks the platform for the state of the host. */
  #ask(): void {
    try {
      this.#status = { ...this.#status, ...checkedStatus(this.#options.status()) };
    } catch (error) {
      this.#tell(error);
    }
  }

  #tell(error: unknown): void {
    const { onError } = this.#options;
    if (this.#closed !== undefined) return;
    tell(onError, error instanceof Error ? error : engineError("the report", error));
  }
}

/** A wait that can be ended early. */
class Pause {
  #end = () => {};
  #wake = () => {};
  #isClosed = false;

  /** Waits for a number of milliseconds. @param isWoken whether {@link wake} ends it */
  async wait(delay: number, isWoken = false): Promise<void> {
    if (this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, delay));
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#wake = isWoken ? this.#end : () => {};
    });
  }

  wake(): void {
    this.#wake();
  }

  /** Ends the wait, and all later ones. */
  close(): void {
    this.#isClosed = true;
    this.#end();
  }
}
