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
import type { FleetEngine } from "./engine.js";
import { MAX_TTL } from "./message.js";
import type { RedisClient, RedisCluster } from "./redis-client.js";
import { engineOf } from "./redis-engine.js";

/** The part of the state of a host that only the platform knows. */
export interface ReportedStatus {
  /** How much it has to do, such as the number of sandboxes that run on it. From 0 to 1e12. Default: 0. */
  readonly load?: number | undefined;
  /** How much it can do compared with other hosts. From 1e-6 to 1e12. Default: 1. */
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
   * Is called with an `ERR_ENGINE` if the engine fails, an `ERR_ARGUMENT` if `status` returns something invalid, and
   * the errors of `status` and of the cache. The report goes on. Default: nothing.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** Options of `reportResidency`, with defaults. */
export interface CheckedReport {
  readonly engine: FleetEngine;
  readonly host: string;
  readonly ttl: number;
  readonly interval: number;
  readonly listInterval: number;
  readonly status: () => ReportedStatus;
  readonly onError: ((error: Error) => void) | undefined;
}

/** Returns the options with defaults. @throws {FleetError} `ERR_ARGUMENT` */
export function checkedReport(cache: ImageCache, options: ReportOptions): CheckedReport {
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
export function checkedStatus(status: ReportedStatus): Required<ReportedStatus> & {
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
