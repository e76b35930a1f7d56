import { channel } from "node:diagnostics_channel";

/**
 * The events that are published on channels of `node:diagnostics_channel`. URLs in them have no user, query or
 * fragment.
 */
export interface Events {
  /** A range of a snapshot is requested. */
  readonly "hedgerow:snapshot:request": RequestEvent;
  /** A request failed, and will be retried after `delay` milliseconds. */
  readonly "hedgerow:snapshot:retry": RequestEvent & {
    /** Why the request failed. */
    readonly reason: string;
    /** The wait before the next request, in milliseconds. */
    readonly delay: number;
  };
  /** The limit of connections has changed. */
  readonly "hedgerow:snapshot:connections": {
    /** The URL of the snapshot. */
    readonly url: string;
    /** The new limit. */
    readonly connections: number;
  };
  /** The server does not support range requests: the whole snapshot is downloaded in one stream. */
  readonly "hedgerow:snapshot:no-ranges": {
    /** The URL of the snapshot. */
    readonly url: string;
  };
  /** A cache returned an image. */
  readonly "hedgerow:cache:get": CacheEvent & {
    /** Whether the image was in the cache. */
    readonly hit: boolean;
    /** The duration of the call in milliseconds, without the copy. */
    readonly duration: number;
  };
  /** An image was restored into a cache. */
  readonly "hedgerow:cache:fill": CacheEvent & {
    /** The duration of the restore, in milliseconds. */
    readonly duration: number;
  };
  /** An image was evicted to make room. */
  readonly "hedgerow:cache:evict": CacheEvent;
  /** An image was removed because it was damaged. */
  readonly "hedgerow:cache:damaged": Pick<CacheEvent, "directory" | "digest"> & {
    /** The damage that was found. */
    readonly reason: string;
  };
  /** A disk is open. */
  readonly "hedgerow:disk:open": DiskEvent & {
    /** The digest of the snapshot. */
    readonly digest: string;
    /** The duration of the call of `openSnapshot`, in milliseconds. */
    readonly duration: number;
  };
  /** A read of a disk had to wait for data, which it now has. */
  readonly "hedgerow:disk:demand": DiskEvent & {
    /** The offset of the read in the image. */
    readonly offset: number;
    /** The number of bytes that were read. */
    readonly length: number;
    /** The duration of the wait, in milliseconds. */
    readonly duration: number;
  };
  /** The `filled` of a disk has resolved. */
  readonly "hedgerow:disk:filled": DiskEvent & {
    /** The digest of the snapshot. */
    readonly digest: string;
    /** The number of bytes of the image that have arrived since the disk was opened. */
    readonly bytes: number;
    /** The time since the disk was open, in milliseconds. */
    readonly duration: number;
  };
  /**
   * The file system of an image has less room than the data that is to arrive: the rest is fetched again for each read.
   * Published once for each disk.
   */
  readonly "hedgerow:disk:full": DiskEvent & {
    /** The digest of the snapshot. */
    readonly digest: string;
    /** The number of bytes of data that are not in the image. */
    readonly missingBytes: number;
    /** The number of bytes that are free. */
    readonly freeBytes: number;
  };
  /** A disk was saved. */
  readonly "hedgerow:disk:save": DiskEvent & {
    /** The path of the delta, or its URL. */
    readonly destination: string;
    /** The size of the delta, in bytes. */
    readonly bytes: number;
    /** How long writes had to wait, in milliseconds. */
    readonly pause: number;
    /** The duration of the call of `save`, in milliseconds. */
    readonly duration: number;
  };
  /** A disk of a store is attached. */
  readonly "hedgerow:store:attach": StoreEvent & {
    /** The number of the generation that was attached. */
    readonly generation: number;
    /** How often the disk was attached, this time included. */
    readonly epoch: number;
    /** The duration of the call of `attach`, in milliseconds. */
    readonly duration: number;
  };
  /** The changes of an attached disk were saved. */
  readonly "hedgerow:store:save": StoreEvent & {
    /** The number of the generation. */
    readonly generation: number;
    /** The digest of its snapshot. */
    readonly digest: string;
    /** The size of its snapshot, in bytes. */
    readonly bytes: number;
    /** The number of bytes of the image in blocks of 4 KiB that had changed. */
    readonly changedBytes: number;
    /** How long writes had to wait, in milliseconds. */
    readonly pause: number;
    /** The duration of the call, in milliseconds. */
    readonly duration: number;
  };
  /** An automatic save failed, and will be tried again. */
  readonly "hedgerow:store:save-failed": StoreEvent & {
    /** The code of the error. */
    readonly code: string;
    /** The message of the error. */
    readonly reason: string;
  };
  /** An attached disk can no longer be saved: another host has taken it, or it was removed. */
  readonly "hedgerow:store:lost": StoreEvent & {
    /** The owner of the lease that was lost: this host. */
    readonly owner: string;
  };
  /** A collection has ended. */
  readonly "hedgerow:store:collect": Pick<StoreEvent, "store"> & {
    /** The number of snapshots that were deleted. */
    readonly deleted: number;
    /** Their size, in bytes. */
    readonly bytes: number;
    /** The duration of the call, in milliseconds. */
    readonly duration: number;
  };
}

/** An event of a disk in a store. */
export interface StoreEvent {
  /** The URL or the path of the store. */
  readonly store: string;
  /** The name of the disk. */
  readonly name: string;
}

/** An event of a disk. */
export interface DiskEvent {
  /** The path of the image. */
  readonly image: string;
}

/** An event about an image in a cache. */
export interface CacheEvent {
  /** The directory of the cache. */
  readonly directory: string;
  /** The digest of the snapshot. */
  readonly digest: string;
  /** The disk space of the image and its record, in bytes. */
  readonly bytes: number;
}

/** An event about a request for a range of a snapshot. */
export interface RequestEvent {
  /** The URL of the snapshot. */
  readonly url: string;
  /** The offset of the first byte. */
  readonly start: number;
  /** The offset after the last byte. */
  readonly end: number;
  /** Whether this is a hedge: a second request for a range that is slow on another connection. */
  readonly isHedge: boolean;
}

/** The name of an event and the event, as they cross threads. */
export type EmittedEvent = { [Name in keyof Events]: readonly [Name, Events[Name]] }[keyof Events];

const NAMES = [
  "hedgerow:snapshot:request",
  "hedgerow:snapshot:retry",
  "hedgerow:snapshot:connections",
  "hedgerow:snapshot:no-ranges",
  "hedgerow:cache:get",
  "hedgerow:cache:fill",
  "hedgerow:cache:evict",
  "hedgerow:cache:damaged",
  "hedgerow:disk:open",
  "hedgerow:disk:demand",
  "hedgerow:disk:filled",
  "hedgerow:disk:full",
  "hedgerow:disk:save",
  "hedgerow:store:attach",
  "hedgerow:store:save",
  "hedgerow:store:save-failed",
  "hedgerow:store:lost",
  "hedgerow:store:collect",
] as const satisfies readonly (keyof Events)[];

const channels = new Map(NAMES.map((name) => [name as string, channel(name)]));

/** Returns whether any event of transfers has a subscriber. If none has, workers send no events. */
export function hasListeners(): boolean {
  return [...channels].some(
    ([name, { hasSubscribers }]) => hasSubscribers && name.startsWith("hedgerow:snapshot:"),
  );
}

export function emit(...[name, event]: EmittedEvent): void {
  channels.get(name)?.publish(event);
}
