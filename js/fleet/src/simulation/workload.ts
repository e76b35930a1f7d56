/** An image of a workload. */
export interface WorkloadImage {
  /** The digest of its snapshot, or any other name of 1 to 256 characters. */
  readonly identity: string;
  /** Its disk usage in a cache, which is also the number of bytes of a fill. */
  readonly bytes: number;
}

/** A host of a workload. Times are in milliseconds. */
export interface WorkloadHost {
  /** A name that no other host has. */
  readonly id: string;
  /** When it joins, with an empty cache; 0 for a host of the beginning. */
  readonly joins: number;
  /** When it leaves: nothing starts on it any more, and what runs on it ends as planned. `Infinity` if it stays. */
  readonly leaves: number;
}

/** Starts of sandboxes on a fleet: the input of `simulate`. */
export interface Workload {
  /** Its name, for results. */
  readonly name: string;
  /** All hosts, also those that join later. */
  readonly hosts: readonly WorkloadHost[];
  /** The images of all starts. */
  readonly images: readonly WorkloadImage[];
  /** The limit of the cache of each host, as `maxBytes` of `ImageCache`. */
  readonly cacheBytes: number;
  /** When sandboxes are requested, in milliseconds, in order. */
  readonly times: Float64Array;
  /** The index of the image of each start. */
  readonly starts: Uint32Array;
  /** How long each sandbox runs once it has started, in milliseconds. */
  readonly durations: Float64Array;
  /** The index of the image of a flash crowd, whose fetches and starts are also reported on their own. */
  readonly flash?: number | undefined;
}
