import type { Progress } from "../../progress.js";
import type { Lease } from "../locks/leases.js";

/** What came of getting an image. */
export interface Got {
  readonly lease: Lease;
  /** Whether it was there. */
  readonly hit: boolean;
}

/** Whoever wants an image. */
export interface Wanting {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The getting of an image, for all of a process who want it. */
interface Flight {
  readonly controller: AbortController;
  readonly passengers: Set<Passenger>;
}

interface Passenger {
  emit(progress: Progress): void;
  resolve(got: Got): void;
  reject(error: unknown): void;
}

/** Has what many want at a time be got once. It goes on for as long as anyone wants it. */
export class Singleflight {
  readonly #flights = new Map<string, Flight>();
  /** Until each is over, also if nobody wants it any more. */
  readonly #landings = new Set<Promise<void>>();
  readonly #release: (lease: Lease) => Promise<void>;
  #ended: { readonly reason: unknown } | undefined;

  /** @param release ends the use of an image */
  constructor(release: (lease: Lease) => Promise<void>) {
    this.#release = release;
  }

  /**
   * Has `get` get what a name stands for, or waits for whoever does so already. Its lease is shared.
   *
   * @throws what `get` throws, the reason of the signal, and what `onProgress` throws
   */
  join(
    name: string,
    { signal, onProgress }: Wanting,
    get: (wanting: Required<Wanting>) => Promise<Got>,
  ): Promise<Got> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#ended !== undefined) return reject(this.#ended.reason);
      const leave = (settle: () => void) => {
        if (!flight.passengers.delete(passenger)) return;
        signal?.removeEventListener("abort", abort);
        settle();
        if (flight.passengers.size > 0) return;
        // A new one begins anew, and waits until this one has let go.
        if (this.#flights.get(name) === flight) this.#flights.delete(name);
        flight.controller.abort();
      };
      const abort = () => leave(() => reject(signal?.reason));
      const passenger: Passenger = {
        emit: (progress) => {
          try {
            onProgress?.(progress);
          } catch (error) {
            leave(() => reject(error));
          }
        },
        resolve: (got) => leave(() => resolve({ ...got, lease: got.lease.share() })),
        reject: (error) => leave(() => reject(error)),
      };
      const flight = this.#flights.get(name) ?? this.#begin(name, get);
      flight.passengers.add(passenger);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Has nobody want anything any more, and lets nobody begin to. */
  async end(reason: unknown): Promise<void> {
    this.#ended = { reason };
    for (const { passengers } of [...this.#flights.values()])
      for (const passenger of [...passengers]) passenger.reject(reason);
    await Promise.all(this.#landings);
  }

  #begin(name: string, get: (wanting: Required<Wanting>) => Promise<Got>): Flight {
    const [controller, passengers] = [new AbortController(), new Set<Passenger>()];
    const onProgress = (progress: Progress) => {
      for (const passenger of [...passengers]) passenger.emit(progress);
    };
    // Not before those who want it are aboard.
    const got = Promise.resolve().then(() => get({ signal: controller.signal, onProgress }));
    const settle = (each: (passenger: Passenger) => void) => {
      if (this.#flights.get(name) === flight) this.#flights.delete(name);
      for (const passenger of [...passengers]) each(passenger);
    };
    const landed = got.then(
      (result) => {
        settle((passenger) => passenger.resolve(result));
        return this.#release(result.lease);
      },
      (error: unknown) => settle((passenger) => passenger.reject(error)),
    );
    this.#landings.add(landed);
    void landed.then(() => this.#landings.delete(landed));
    const flight: Flight = { controller, passengers };
    this.#flights.set(name, flight);
    return flight;
  }
}
