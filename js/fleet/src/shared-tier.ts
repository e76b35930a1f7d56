import { checkNoOthers, checkNumber, invalid } from "./check.js";
import { tell } from "./residency/engine-failures.js";

/** Options of {@link SharedTier}. */
export interface SharedTierOptions {
  /** The URL of the tier: scheme, host and port. */
  readonly tier: string | URL;
  /** The URL of the store: scheme, host and port. */
  readonly store: string | URL;
  /** How long reads avoid a tier that has failed, in milliseconds, 0 to 3,600,000. Default: 10,000. */
  readonly pause?: number | undefined;
  /** Called with the error of each read that failed through the tier and is repeated directly. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Options for a read, to pass to `ImageCache.get` and others. */
export interface RouteOptions {
  /** Consecutive failed attempts before a request gives up. */
  readonly retries?: number;
  /** Time limits, in milliseconds. */
  readonly timeouts?: {
    /** The time limit of a connection. */
    readonly connect: number;
  };
}

/** Options of reads through a tier, stricter than the defaults: if the tier fails, the store is read. */
const THROUGH_TIER: RouteOptions = { retries: 2, timeouts: { connect: 1_000 } };

const PAUSE = 10_000;
const MAX_PAUSE = 3_600_000;

/** The codes of `SnapshotError` that a tier may cause: it fails, is stale, or has damaged bytes. */
const CODES: ReadonlySet<unknown> = new Set([
  "ERR_SOURCE",
  "ERR_SOURCE_CHANGED",
  "ERR_SNAPSHOT_FORMAT",
  "ERR_SNAPSHOT_DIGEST",
]);

/** Reads a store through a shared tier, and directly when the tier fails. */
export class SharedTier {
  readonly #tier: string;
  readonly #store: string;
  readonly #pause: number;
  readonly #onError: (error: unknown) => void;
  /** Until when reads avoid the tier, by the clock of this process. */
  #avoidedUntil = 0;

  /** @throws {FleetError} `ERR_ARGUMENT` */
  constructor({ tier, store, pause = PAUSE, onError = () => {}, ...others }: SharedTierOptions) {
    checkNoOthers(others);
    this.#tier = originOf("tier", tier);
    this.#store = originOf("store", store);
    checkNumber("pause", pause, 0, MAX_PAUSE);
    this.#pause = pause;
    if (typeof onError !== "function") throw invalid("onError", "a function", typeof onError);
    this.#onError = onError;
  }

  /** Whether reads avoid the tier at the moment, because it has failed. */
  get isAvoided(): boolean {
    return performance.now() < this.#avoidedUntil;
  }

  /**
   * Calls `read` with the URL of the tier. If the tier may be the cause of a failure, calls `read` again with the URL
   * of the store.
   *
   * @throws what `read` throws; if both fail, what it throws without the tier
   */
  async read<T>(read: (endpoint: string, options: RouteOptions) => Promise<T>): Promise<T> {
    if (this.isAvoided) return read(this.#store, {});
    try {
      return await read(this.#tier, THROUGH_TIER);
    } catch (error) {
      const { code, status = 500 } = Object(error) as { code?: unknown; status?: number };
      if (!CODES.has(code)) throw error;
      // Damage, and a refusal by the store itself, say nothing about the next read.
      if (code === "ERR_SOURCE" && status >= 500) {
        this.#avoidedUntil = performance.now() + this.#pause;
      }
      tell(this.#onError, error);
      return read(this.#store, {});
    }
  }
}

/** Returns a URL that has only a scheme, a host and a port. @throws {FleetError} `ERR_ARGUMENT` */
function originOf(name: string, value: unknown): string {
  const text = value instanceof URL ? value.href : value;
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  // The value may hold secrets.
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw invalid(name, "an http: or https: URL without a user, path or query", "another value");
  return url.origin;
}
