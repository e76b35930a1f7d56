import { channel } from "node:diagnostics_channel";

/** What is told on the channels of `node:diagnostics_channel`. No URL has a user, a query or a fragment. */
export interface Events {
  /** A part of a snapshot is asked for: bytes `start` to `end`, the last not included. */
  readonly "hedgerow:snapshot:request": RequestEvent;
  /** A request failed, and is made again after `delay` milliseconds. */
  readonly "hedgerow:snapshot:retry": RequestEvent & {
    /** Why it failed. */
    readonly reason: string;
    /** How long the next request waits, in milliseconds. */
    readonly delay: number;
  };
  /** The number of connections that there may be has changed. */
  readonly "hedgerow:snapshot:connections": {
    /** The URL of the snapshot. */
    readonly url: string;
    /** How many there may be now. */
    readonly connections: number;
  };
  /** The server has no ranges: all of the snapshot is fetched in one stream. */
  readonly "hedgerow:snapshot:no-ranges": {
    /** The URL of the snapshot. */
    readonly url: string;
  };
  /** An image was got out of a cache. */
  readonly "hedgerow:cache:get": CacheEvent & {
    /** Whether it was there. */
    readonly hit: boolean;
    /** How long it took, in milliseconds, without a copy. */
    readonly duration: number;
  };
  /** An image was restored into a cache. */
  readonly "hedgerow:cache:fill": CacheEvent & {
    /** How long it took, in milliseconds. */
    readonly duration: number;
  };
  /** An image went to make room. */
  readonly "hedgerow:cache:evict": CacheEvent;
  /** An image went because it was damaged. */
  readonly "hedgerow:cache:damaged": Pick<CacheEvent, "directory" | "digest"> & {
    /** What is wrong with it. */
    readonly reason: string;
  };
}

/** What is told of an image in a cache. */
export interface CacheEvent {
  /** The directory of the cache. */
  readonly directory: string;
  /** The digest of the snapshot. */
  readonly digest: string;
  /** What the image takes on the disk, with what is known of it, in bytes. */
  readonly bytes: number;
}

/** What is told of a request for a part of a snapshot. */
export interface RequestEvent {
  /** The URL of the snapshot. */
  readonly url: string;
  /** Where the part begins, in bytes. */
  readonly start: number;
  /** Where it ends: the first byte that is not asked for. */
  readonly end: number;
  /** Whether another connection is at the same part, which is slow. */
  readonly isHedge: boolean;
}

/** An event as it crosses between threads. */
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
] as const satisfies readonly (keyof Events)[];

const channels = new Map(NAMES.map((name) => [name as string, channel(name)]));

/** Whether anyone listens, so that threads need not tell what no one hears. */
export function hasListeners(): boolean {
  return [...channels.values()].some(({ hasSubscribers }) => hasSubscribers);
}

export function emit(...[name, event]: EmittedEvent): void {
  channels.get(name)?.publish(event);
}
