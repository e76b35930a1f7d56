import type { FileHandle } from "node:fs/promises";
import type { Location } from "../location/location.js";
import type { CopySource, ListedObject, StoredObject } from "../services/object-service.js";

/** The key of the marker of a store. */
export const MARKER = "hedgerow-disks.json";

/** The result of a conditional write. */
export interface WriteResult {
  /** The new tag, or undefined if the object has changed. */
  readonly tag: string | undefined;
  /** The object that was found instead, if it was read. */
  readonly found?: StoredObject | undefined;
}

/** A new object, in a local file. */
export interface NewObject {
  /** The name of the file in messages. */
  readonly path: string;
  readonly handle: FileHandle;
  /** Stores the object under a key, durably, unless there is one. Returns whether it did. */
  publish(key: string, signal: AbortSignal | undefined): Promise<boolean>;
}

/** Shows other processes that the holder of a token is still running. */
export interface Hold {
  /** Ends it. */
  release(): Promise<void>;
}

/**
 * The objects of a store, in a bucket or in a folder. Keys are relative to the store.
 *
 * All methods throw a `SnapshotError` with the code `ERR_STORE` if the store cannot be used.
 */
export interface StoreObjects {
  /** The URL or the path of the store. */
  readonly name: string;
  /** A tag that no object has. */
  readonly unusedTag: string;
  /** Returns the location of an object. */
  location(key: string): Location;
  /** Returns the time of the store in milliseconds since 1970. It never runs ahead. */
  now(): Promise<number>;
  /** Returns an object of at most `maxLength` bytes, or undefined if there is none. */
  read(key: string, maxLength: number, signal?: AbortSignal): Promise<StoredObject | undefined>;
  /**
   * Writes an object if it still has `tag`, or if `tag` is undefined and there is none. Contents must be unique: they
   * identify a write whose response was lost.
   */
  write(
    key: string,
    bytes: Uint8Array,
    tag: string | undefined,
    signal?: AbortSignal,
  ): Promise<WriteResult>;
  /** Removes an object if it still has `tag`. Returns false if it has changed; true if it is gone. */
  remove(key: string, tag: string): Promise<boolean>;
  /**
   * Removes an object without a condition. Returns false if a request may still arrive, and remove a later object of
   * the same key.
   *
   * @param timeout how long it may take, in milliseconds
   */
  delete(key: string, timeout: number): Promise<boolean>;
  /** Returns the size of an object in bytes, or undefined if there is none. */
  size(key: string, signal?: AbortSignal): Promise<number | undefined>;
  /** Calls `use` with an empty local file for a new object, which is removed unless it was published. */
  create<T>(use: (object: NewObject) => Promise<T>): Promise<T>;
  /**
   * Copies an object of the same service, unless there is one under the key. Returns false if the service cannot.
   *
   * @param size of the object, in bytes
   */
  copy(
    key: string,
    source: CopySource,
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<boolean>;
  /**
   * Yields the objects whose keys begin with a prefix, which names a folder, in the order of their keys.
   *
   * @param after the key after which the list begins
   */
  list(prefix: string, after?: string, signal?: AbortSignal): AsyncIterable<ListedObject>;
  /** Holds a token until it is released. */
  hold(token: string): Promise<Hold>;
  /** Whether only time shows that the holder of a token has ended. */
  readonly leasesExpire: boolean;
  /** Returns whether a running process holds a token; true if that is unknown. */
  isHeld(token: string): Promise<boolean>;
  /** Removes leftovers of killed processes that are older than `age` milliseconds. Returns their number. */
  removeLeftovers(age: number, dryRun: boolean, signal?: AbortSignal): Promise<number>;
  close(): void;
}
