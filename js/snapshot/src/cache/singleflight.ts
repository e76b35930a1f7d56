/** Loads each image once for all callers of this process, by a shared promise. */
import { once } from "node:events";

import type { Progress } from "../progress.js";
import type { OpenDelta } from "./bases.js";
import type { Lease } from "./leases.js";

/** An open delta that several callers use. */
export interface SharedDelta extends OpenDelta {
  /** Ends the use of it by one caller. */
  release(): void;
}

/** An image that was loaded. */
export interface LoadedImage {
  readonly lease: Lease;
  /** Whether it was in the cache. */
  readonly hit: boolean;
  /** The wanted delta, if the image is that of a base object, to be copied and changed. */
  readonly delta?: SharedDelta | undefined;
}

/** How a load is cancelled and observed. */
export interface LoadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** How a load is cancelled and observed by all its callers. */
export interface FlightOptions extends Required<LoadOptions> {
  /** Gives each caller a delta with a lease of its base. Returns when no caller uses it any more. */
  share(delta: OpenDelta): Promise<void>;
}

/** Loads an image, unless it shares a delta. Its signal is aborted when no one waits for it any more. */
type Load = (options: FlightOptions) => Promise<Omit<LoadedImage, "delta"> | undefined>;

/** A load in progress. */
interface Flight {
  readonly controller: AbortController;
  readonly waiters: Set<Waiter>;
}

/** A caller that waits for a load. */
interface Waiter {
  onProgress(progress: Progress): void;
  resolve(loaded: LoadedImage): void;
  share(delta: OpenDelta): void;
  reject(error: unknown): void;
}

/** Shares each load among all callers of this process that want the same image at the same time. */
export class Singleflight {
  /** The loads that callers can join, by key. */
  readonly #flights = new Map<string, Flight>();
  /** All loads that have not ended, including abandoned ones. */
  readonly #running = new Set<Promise<void>>();
  readonly #release: (lease: Lease) => Promise<void>;
  #ended: { readonly reason: unknown } | undefined;

  /** @param release ends the use of an image */
  constructor(release: (lease: Lease) => Promise<void>) {
    this.#release = release;
  }

  /**
   * Joins the load with this key, or starts it. Each caller gets its own share of the lease.
   *
   * @throws what `load` throws, the reason of the signal, and what `onProgress` throws
   */
  join(key: string, { signal, onProgress }: LoadOptions, load: Load): Promise<LoadedImage> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#ended !== undefined) return reject(this.#ended.reason);
      const leave = (settle?: () => void) => {
        if (!flight.waiters.delete(waiter)) return;
        signal?.removeEventListener("abort", abort);
        settle?.();
        if (flight.waiters.size > 0) return;
        // The next caller starts a new load, which waits until this one has released its lock.
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
        flight.controller.abort();
      };
      const abort = () => leave(() => reject(signal?.reason));
      const waiter: Waiter = {
        onProgress: (progress) => {
          try {
            onProgress?.(progress);
          } catch (error) {
            leave(() => reject(error));
          }
        },
        resolve: (loaded) => leave(() => resolve({ ...loaded, lease: loaded.lease.share() })),
        share: (delta) => {
          // From now on the caller ends its use itself, even if it is cancelled.
          signal?.removeEventListener("abort", abort);
          const shared = { ...delta, release: () => leave() };
          resolve({ lease: delta.base.lease.share(), hit: false, delta: shared });
        },
        reject: (error) => leave(() => reject(error)),
      };
      const flight = this.#flights.get(key) ?? this.#start(key, load);
      flight.waiters.add(waiter);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Rejects all waiters and all later calls, and waits until all loads have ended. */
  async end(reason: unknown): Promise<void> {
    this.#ended = { reason };
    for (const { waiters } of [...this.#flights.values()])
      for (const waiter of [...waiters]) waiter.reject(reason);
    await Promise.all(this.#running);
  }

  #start(key: string, load: Load): Flight {
    const controller = new AbortController();
    const waiters = new Set<Waiter>();
    const onProgress = (progress: Progress) => {
      for (const waiter of [...waiters]) waiter.onProgress(progress);
    };
    const settle = (each: (waiter: Waiter) => void) => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
      for (const waiter of [...waiters]) each(waiter);
    };
    const { signal } = controller;
    const share = async (delta: OpenDelta) => {
      settle((waiter) => waiter.share(delta));
      if (!signal.aborted) await once(signal, "abort");
    };
    // The load starts after its first waiter has been added.
    const loading = Promise.resolve().then(() => load({ signal, onProgress, share }));
    const running = loading.then(
      (loaded) => {
        if (loaded === undefined) return;
        settle((waiter) => waiter.resolve(loaded));
        return this.#release(loaded.lease);
      },
      (error: unknown) => settle((waiter) => waiter.reject(error)),
    );
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
    const flight: Flight = { controller, waiters };
    this.#flights.set(key, flight);
    return flight;
  }
}
