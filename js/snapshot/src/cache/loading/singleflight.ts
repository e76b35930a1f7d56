import type { Manifest } from "../../format/manifest.js";
import type { Progress } from "../../progress.js";
import type { ImageContent } from "../directory/image-record.js";
import type { Lease } from "../locks/leases.js";

/** A delta whose image is to be made from a copy of that of a base. */
export interface WantedDelta {
  readonly manifest: Manifest;
  /** The content of the base's image. */
  readonly content: ImageContent;
}

/** An image that was loaded. */
export interface LoadedImage {
  readonly lease: Lease;
  /** Whether it was in the cache. */
  readonly hit: boolean;
  /** The wanted delta, if the image is that of a base object, to be copied and changed. */
  readonly delta?: WantedDelta | undefined;
}

/** How a load is cancelled and observed. */
export interface LoadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Loads an image. Its signal is aborted when no one waits for it any more. */
type Load = (options: Required<LoadOptions>) => Promise<LoadedImage>;

/** A load in progress. */
interface Flight {
  readonly controller: AbortController;
  readonly waiters: Set<Waiter>;
}

/** A caller that waits for a load. */
interface Waiter {
  onProgress(progress: Progress): void;
  resolve(loaded: LoadedImage): void;
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
      const leave = (settle: () => void) => {
        if (!flight.waiters.delete(waiter)) return;
        signal?.removeEventListener("abort", abort);
        settle();
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
    const [controller, waiters] = [new AbortController(), new Set<Waiter>()];
    const onProgress = (progress: Progress) => {
      for (const waiter of [...waiters]) waiter.onProgress(progress);
    };
    // The load starts after its first waiter has been added.
    const loading = Promise.resolve().then(() => load({ signal: controller.signal, onProgress }));
    const settle = (each: (waiter: Waiter) => void) => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
      for (const waiter of [...waiters]) each(waiter);
    };
    const running = loading.then(
      (loaded) => {
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
