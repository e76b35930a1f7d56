import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { watch } from "node:fs";
import { join } from "node:path";
import type { ImageCache } from "@hedgerow/snapshot";

import { MAX_CHANGES, MAX_IMAGES } from "./engine.js";

/** The difference between the current and the earlier images of a cache. */
export interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** The events of a cache after which an image may have come or gone. */
const EVENTS = ["get", "fill", "evict", "damaged"];

/**
 * The images of a cache: from a listing, and then from the events of this process and the changes of its directory,
 * which other processes may share.
 */
export class HeldImages {
  readonly #cache: ImageCache;
  readonly #held = new Set<string>();
  /** The images that may have come or gone. */
  readonly #touched = new Set<string>();
  /** Whether there were too many of them, so that only a listing finds them all. */
  #hasOverflowed = false;
  /** The images that may have come or gone since the running listing began, which may lack these changes. */
  #meanwhile: Set<string> | undefined;
  /** A listing that is not part of a difference yet. */
  #listed: ReadonlySet<string> | undefined;
  readonly #onTouch: () => void;
  readonly #stop: (() => void)[] = [];

  /** @param onTouch is called when an image may have come or gone */
  constructor(cache: ImageCache, onTouch: () => void) {
    this.#cache = cache;
    this.#onTouch = onTouch;
    for (const name of EVENTS) {
      const listen = (event: unknown) => {
        const { directory, digest } = event as { directory: string; digest: string };
        // Most images that are returned are known.
        const isNews = name !== "get" || !this.#held.has(digest);
        if (isNews && directory === this.#cache.directory) this.#touch(digest);
      };
      subscribe(`hedgerow:cache:${name}`, listen);
      this.#stop.push(() => unsubscribe(`hedgerow:cache:${name}`, listen));
    }
    this.#watchDirectory();
  }

  /** All images, as of the last difference. */
  get all(): ReadonlySet<string> {
    return this.#held;
  }

  /** Whether there may be a difference. */
  get isTouched(): boolean {
    return this.#listed !== undefined || this.#touched.size > 0;
  }

  /** Whether only {@link list} finds all changes. */
  get needsListing(): boolean {
    return this.#hasOverflowed;
  }

  /** Lists the cache for the next difference. @throws {SnapshotError} `ERR_CACHE` */
  async list(): Promise<void> {
    this.#hasOverflowed = false;
    const meanwhile = new Set<string>();
    this.#meanwhile = meanwhile;
    const entries = await this.#cache.entries().finally(() => {
      this.#meanwhile = undefined;
    });
    this.#listed = new Set(entries.slice(0, MAX_IMAGES).map(({ digest }) => digest));
    // They are checked again.
    for (const digest of meanwhile) this.#touched.add(digest);
    this.#onTouch();
  }

  /** Returns the difference since the last time. @throws {SnapshotError} `ERR_CACHE` */
  async difference(): Promise<Difference> {
    // A listing that ends during the checks belongs to the next difference, with the images to check again.
    const [now, touched] = [this.#listed, [...this.#touched]];
    this.#listed = undefined;
    this.#touched.clear();
    const removed = new Set(now && [...this.#held].filter((digest) => !now.has(digest)));
    const added = new Set(now && [...now].filter((digest) => !this.#held.has(digest)));
    for (const digest of touched) {
      // With a digest, the source is not asked.
      const isThere = await this.#cache.has(this.#cache.directory, { digest });
      for (const changes of [added, removed]) changes.delete(digest);
      if (isThere !== this.#held.has(digest)) (isThere ? added : removed).add(digest);
    }
    for (const digest of removed) this.#held.delete(digest);
    for (const digest of added) {
      if (this.#held.size < MAX_IMAGES) this.#held.add(digest);
      else added.delete(digest);
    }
    return { added: [...added], removed: [...removed] };
  }

  close(): void {
    for (const stop of this.#stop.splice(0)) stop();
  }

  #touch(digest: string): void {
    if (Math.max(this.#touched.size, this.#meanwhile?.size ?? 0) < MAX_CHANGES) {
      this.#touched.add(digest);
      this.#meanwhile?.add(digest);
    } else this.#hasOverflowed = true;
    this.#onTouch();
  }

  /** An image is in the cache if its record is, which is renamed into place. Without inotify, listings find it later. */
  #watchDirectory(): void {
    try {
      const watcher = watch(join(this.#cache.directory, "images"), (type, name) => {
        const [, digest] = /^([0-9a-f]{64})\.record$/.exec(name ?? "") ?? [];
        if (type === "rename" && digest !== undefined) this.#touch(digest);
      });
      watcher.on("error", () => watcher.close()).unref();
      this.#stop.push(() => watcher.close());
    } catch {
      // There is a limit of watches.
    }
  }
}
