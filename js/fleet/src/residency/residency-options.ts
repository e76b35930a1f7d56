import { checkedOptions, checkFunction, checkInteger, checkNoOthers } from "../check.js";
import type { FleetEngine } from "./engine.js";
import type { RedisClient, RedisCluster } from "./redis-client.js";
import { engineOf } from "./redis-engine.js";

/** Options of `Residency.watch`. */
export interface ResidencyOptions {
  /** A connected client of the package `redis`, of a server or of a cluster, or an engine. Required. */
  readonly client: RedisClient | RedisCluster | FleetEngine;
  /**
   * How long images are still believed to be where they were while the engine is away, in milliseconds. From 0 to
   * 3,600,000. Default: 60,000.
   */
  readonly maxStale?: number | undefined;
  /**
   * The maximum number of images of all hosts together; an image counts once for each host. More are ignored. From 1 to
   * 67,108,864. Each takes about 80 bytes. Default: 4,194,304.
   */
  readonly maxImages?: number | undefined;
  /** Is called with an `ERR_ENGINE` if the engine fails, or holds something invalid. Default: nothing. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** The maximum number of images of all hosts together, each once for each host: by default, and as an option. */
const [DEFAULT_IMAGES, MAX_IMAGES] = [2 ** 22, 2 ** 26];

/** Options of `Residency.watch`, with defaults. */
export interface CheckedResidency {
  readonly engine: FleetEngine;
  readonly maxStale: number;
  readonly maxImages: number;
  readonly onError: ((error: Error) => void) | undefined;
}

/** Returns the options with defaults. @throws {FleetError} `ERR_ARGUMENT` */
export function checkedResidency(options: ResidencyOptions): CheckedResidency {
  const {
    client,
    maxStale = 60_000,
    maxImages = DEFAULT_IMAGES,
    onError,
    ...others
  } = checkedOptions(options);
  checkNoOthers(others);
  const engine = engineOf(client);
  checkInteger("maxStale", maxStale, 0, 3_600_000);
  checkInteger("maxImages", maxImages, 1, MAX_IMAGES);
  checkFunction("onError", onError);
  return { engine, maxStale, maxImages, onError };
}
