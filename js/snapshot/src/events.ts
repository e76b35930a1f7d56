import { channel } from "node:diagnostics_channel";

/** What is told on the channels of `node:diagnostics_channel`. No URL has a user, a query or a fragment. */
export interface Events {
  /** A part of a snapshot is asked for: bytes `start` to `end`, the last not included. */
  readonly "hedgerow:snapshot:request": RequestEvent;
  /** A request failed, and is made again after `delay` milliseconds. */
  readonly "hedgerow:snapshot:retry": RequestEvent & {
    readonly reason: string;
    readonly delay: number;
  };
  /** The number of connections that there may be has changed. */
  readonly "hedgerow:snapshot:connections": { readonly url: string; readonly connections: number };
  /** The server has no ranges: all of the snapshot is fetched in one stream. */
  readonly "hedgerow:snapshot:no-ranges": { readonly url: string };
  /** An image was got out of a cache: whether it was there, and how long it took, in milliseconds, without a copy. */
  readonly "hedgerow:cache:get": CacheEvent & { readonly hit: boolean; readonly duration: number };
  /** An image was restored into a cache, and how long that took, in milliseconds. */
  readonly "hedgerow:cache:fill": CacheEvent & { readonly duration: number };
  /** An image went to make room. */
  readonly "hedgerow:cache:evict": CacheEvent;
  /** An image went because it was damaged. */
  readonly "hedgerow:cache:damaged": Pick<CacheEvent, "directory" | "digest"> & {
    readonly reason: string;
  };
}

export interface CacheEvent {
  /** The directory of the cache. */
  readonly directory: string;
  /** The digest of the snapshot. */
  readonly digest: string;
  /** What the image takes on the disk, with what is known of it, in bytes. */
  readonly bytes: number;
}

export interface RequestEvent {
  readonly url: string;
  readonly start: number;
  readonly end: number;
  /** Whether another connection is at the same part, which is slow. */
  readonly isHedge: boolean;
}

/** An event as it crosses between threads. */
export type Told = { [Name in keyof Events]: readonly [Name, Events[Name]] }[keyof Events];

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

export function tell(...[name, event]: Told): void {
  channels.get(name)?.publish(event);
}
