import { randomBytes } from "node:crypto";
import type { ImageCache } from "@hedgerow/snapshot";

import { FleetError } from "../error.js";
import { backoff } from "./backoff.js";
import { type HostStatus, MAX_CHANGES } from "./engine.js";
import { engineError, tell } from "./engine-error.js";
import { type Difference, HeldImages } from "./held-images.js";
import { Pause } from "./pause.js";
import type { ResidencyReport } from "./report.js";
import { type CheckedReport, checkedStatus } from "./report-options.js";

/** The maximum time that `close` takes, in milliseconds, whatever the engine does. */
const CLOSE_TIMEOUT = 5_000;

/** The minimum delay before the engine, or a listing of the cache, is tried again, in milliseconds. */
const [ENGINE_DELAY, LIST_DELAY] = [200, 500];

const NO_STATUS = { load: 0, capacity: 1, available: true, bytes: 0, hits: 0, misses: 0 };

/** Publishes what a cache has until it is closed. The engine has the last difference, or will be told everything. */
export class Reporter implements ResidencyReport {
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
