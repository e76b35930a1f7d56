import type { SinkData } from "../decode/frame-sink.js";
import type { Endpoint } from "../http/get.js";
import type { ObjectVersion } from "../http/object-version.js";
import type { Transfer } from "../options/transfer-options.js";
import type { SchedulerData } from "./range-scheduler.js";

/** A task of a fetch worker: open a snapshot, resume what an earlier run restored of it, or fetch the rest. */
export type FetchTask =
  | { readonly kind: "open"; readonly data: FetchData }
  | { readonly kind: "resume" }
  | { readonly kind: "fetch"; readonly plan: FetchPlan };

/** An object that holds frames. */
export interface FetchedObject {
  /** Its name in messages. */
  readonly name: string;
  /** Its URL in events. */
  readonly url: string;
  readonly endpoint: Endpoint;
  readonly version: ObjectVersion;
}

/** The snapshot that a worker fetches, and how. */
export interface FetchData extends SinkData {
  /** The objects on servers, by their number. */
  readonly objects: readonly (FetchedObject | undefined)[];
  readonly transfer: Transfer;
  /** The number of workers. */
  readonly workers: number;
  /** Whether any event has a subscriber; without one, workers send no events. */
  readonly hasListeners: boolean;
}

/** The ranges that the workers fetch. */
export interface FetchPlan {
  readonly scheduler: SchedulerData;
  /**
   * The number of frames that are done when every range is fetched, including those of earlier runs; undefined if others
   * may be missing.
   */
  readonly frames: number | undefined;
  /** The number of bytes in the ranges, without those prefetched. */
  readonly bytes: number;
  /** The bytes of the first ranges; the scheduler says how many have arrived. */
  readonly prefetched: readonly PrefetchedBytes[];
  /** The maximum number of connections of each worker. */
  readonly maxConnections: number;
}

/** The bytes of a range that were requested before it was known. */
export interface PrefetchedBytes {
  readonly bytes: SharedArrayBuffer;
  /** The offset of the range in the bytes. */
  readonly offset: number;
}
