import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import {
  checkedOptions,
  checkFunction,
  checkId,
  checkInteger,
  checkNoOthers,
  invalid,
} from "./check.js";
import type { FleetEngine } from "./residency/engine.js";
import { engineError, tell } from "./residency/engine-failures.js";
import type { RedisClient, RedisCluster } from "./residency/redis-client.js";
import { engineOf } from "./residency/redis-engine.js";

/** Options of `fillLease`. */
export interface FillLeaseOptions {
  /** A connected client of the package `redis`, of a server or of a cluster, or an engine. Required. */
  readonly client: RedisClient | RedisCluster | FleetEngine;
  /** How many hosts may fill the image at a time. All must pass the same. From 1 to 1,024. Default: 3. */
  readonly slots?: number | undefined;
  /**
   * How long a slot is held after its host has died, in milliseconds, by the clock of the engine. It is renewed three
   * times in that time. From 300 to 3,600,000. Default: 30,000.
   */
  readonly ttl?: number | undefined;
  /** The maximum wait for a slot, in milliseconds. From 0 to 86,400,000. Default: 60,000. */
  readonly maxWait?: number | undefined;
  /** Returns whether the wait is no longer needed, such as because the image is now in the cache. Default: never. */
  readonly isResident?: (() => boolean) | undefined;
  /** Aborts the wait: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Is called with an `ERR_ENGINE` if the engine fails. Default: nothing. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** Why a fill may begin. */
export type FillReason =
  /** It has a slot. */
  | "slot"
  /** Another host has filled the image within the last minute: the shared tier has it. */
  | "filled"
  /** `isResident` returned true. */
  | "resident"
  /** No slot became free within `maxWait`. */
  | "timeout"
  /** The engine has failed. */
  | "engine";

/** The permission to fill an image. */
export interface FillLease {
  /** Why the host may continue. */
  readonly reason: FillReason;
  /** The duration of the wait, in milliseconds. */
  readonly waited: number;
  /**
   * Ends the lease, so that another host can take its slot. Pass `filled: true` if the image was filled and a shared
   * tier has its bytes: for the next minute, no host waits. Default: `false`. Never rejects.
   */
  release(options?: { readonly filled?: boolean | undefined }): Promise<void>;
}

/** The delay between two attempts to take a slot, in milliseconds: minimum and maximum. */
const MIN_DELAY = 50;
const MAX_DELAY = 300;

/** How long the engine remembers that an image was filled, in milliseconds. */
const FILLED = 60_000;

/**
 * Waits until this host may fill an image: at most `slots` hosts of a fleet fill the same image at the same time. With
 * a shared tier, all others continue when one has filled it, since the tier has the bytes.
 *
 * Never stops a start: if the engine fails, or after `maxWait`, the host continues without a slot. A holder that is
 * paused for longer than `ttl` loses its slot, and does not notice.
 *
 * @param identity the digest of the snapshot, or another text that names the image
 * @throws {FleetError} `ERR_ARGUMENT`
 * @throws the reason of the signal
 * @example
 * const lease = await fillLease(digest, { client });
 * try {
 *   const image = await cache.get(url, { digest });
 * } finally {
 *   await lease.release();
 * }
 */
export async function fillLease(identity: string, options: FillLeaseOptions): Promise<FillLease> {
  checkId("identity", identity);
  const checked = checkedLease(options);
  const { maxWait, isResident, signal } = checked;
  signal?.throwIfAborted();
  const begun = performance.now();
  const slot = new FillSlot(identity, checked);
  const leased = (reason: FillReason): FillLease => {
    const release = ({ filled = false } = {}) => slot.release(filled === true);
    return { reason, waited: performance.now() - begun, release };
  };
  while (true) {
    if (isResident()) return leased("resident");
    const found = await slot.take();
    if (signal?.aborted) {
      await slot.release(false);
      throw signal.reason;
    }
    if (found !== "full") return leased(found);
    const left = begun + maxWait - performance.now();
    if (left <= 0) return leased("timeout");
    const delay = MIN_DELAY + Math.random() * (MAX_DELAY - MIN_DELAY);
    await sleep(Math.min(delay, left), undefined, { signal }).catch(() => {});
  }
}

/** Options of `fillLease`, with defaults. */
interface CheckedLease {
  readonly engine: FleetEngine;
  readonly slots: number;
  readonly ttl: number;
  readonly maxWait: number;
  readonly isResident: () => boolean;
  readonly signal: AbortSignal | undefined;
  readonly onError: ((error: Error) => void) | undefined;
}

/** @throws {FleetError} `ERR_ARGUMENT` */
function checkedLease(options: FillLeaseOptions): CheckedLease {
  const {
    client,
    slots = 3,
    ttl = 30_000,
    maxWait = 60_000,
    isResident = () => false,
    signal,
    onError,
    ...others
  } = checkedOptions(options);
  checkNoOthers(others);
  checkInteger("slots", slots, 1, 1_024);
  checkInteger("ttl", ttl, 300, 3_600_000);
  checkInteger("maxWait", maxWait, 0, 86_400_000);
  checkFunction("isResident", isResident);
  checkFunction("onError", onError);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalid("signal", "an AbortSignal", typeof signal);
  }
  return { engine: engineOf(client), slots, ttl, maxWait, isResident, signal, onError };
}

/** A slot that a host takes, renews and releases. */
class FillSlot {
  readonly #identity: string;
  readonly #options: CheckedLease;
  readonly #holder = randomBytes(16).toString("hex");
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<unknown> | undefined;
  #state: "free" | "held" | "unknown" = "free";
  #released: Promise<void> | undefined;

  constructor(identity: string, options: CheckedLease) {
    this.#identity = identity;
    this.#options = options;
  }

  /** Tries to take the slot, and then renews it until it is released. */
  async take(): Promise<"slot" | "filled" | "full" | "engine"> {
    try {
      const found = await this.#take();
      if (found !== "held") return found;
      this.#state = "held";
      this.#renewLater();
      return "slot";
    } catch (error) {
      // A late reply may still take the slot.
      this.#state = "unknown";
      this.#tell(error);
      return "engine";
    }
  }

  release(isFilled: boolean): Promise<void> {
    this.#released ??= this.#release(isFilled);
    return this.#released;
  }

  async #release(isFilled: boolean): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#state === "free" && !isFilled) return;
    try {
      await this.#renewing;
      const { engine } = this.#options;
      await engine.releaseSlot(this.#identity, this.#holder, isFilled ? FILLED : 0);
    } catch (error) {
      this.#tell(error);
    }
  }

  #take(): Promise<"held" | "filled" | "full"> {
    const { engine, slots, ttl } = this.#options;
    return engine.takeSlot({ identity: this.#identity, holder: this.#holder, slots, ttl });
  }

  #renewLater(): void {
    this.#timer = setTimeout(() => {
      this.#renewing = this.#take()
        .catch((error) => this.#tell(error))
        .finally(() => {
          if (this.#released === undefined) this.#renewLater();
        });
    }, this.#options.ttl / 3);
    // A process that ends keeps no slot.
    this.#timer.unref();
  }

  #tell(error: unknown): void {
    tell(this.#options.onError, engineError("a slot to fill an image", error));
  }
}
