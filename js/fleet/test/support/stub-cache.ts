/** Caches without files, for tests with many of them. */
import { randomUUID } from "node:crypto";
import { channel } from "node:diagnostics_channel";
import type { ImageCache } from "@hedgerow/snapshot";

import { digestOf } from "../../../snapshot/test/support/stored-images.js";

/** The part of a cache that a report uses, with the events of a real one. */
export class StubCache {
  readonly directory = `/nowhere/${randomUUID()}`;
  readonly digests = new Set<string>();

  /** Adds an image with the digest of a name, which it returns. */
  fill(name: string | number): string {
    const digest = digestOf(name);
    this.digests.add(digest);
    channel("hedgerow:cache:fill").publish({ directory: this.directory, digest });
    return digest;
  }

  evict(digest: string): void {
    this.digests.delete(digest);
    channel("hedgerow:cache:evict").publish({ directory: this.directory, digest });
  }

  async entries() {
    return [...this.digests].map((digest) => ({ digest }));
  }

  async has(_: string, { digest }: { readonly digest: string }): Promise<boolean> {
    return this.digests.has(digest);
  }

  async stats() {
    return { bytes: this.digests.size, totals: { hits: 2, misses: 1 } };
  }

  /** The same as the type that reports take. */
  get asCache(): ImageCache {
    return this as unknown as ImageCache;
  }
}
