/** Caches without files, for tests with many of them. */
import { randomUUID } from "node:crypto";
import { channel } from "node:diagnostics_channel";
import type { ImageCache } from "@hedgerow/snapshot";

import { digestOf } from "../../../snapshot/test/support/stored-images.js";

/** Held, as a cache does: Node 20 may lose the subscribers of a channel that is collected, and is made again. */
const [FILL, EVICT] = [channel("hedgerow:cache:fill"), channel("hedgerow:cache:evict")];

/** The part of a cache that a report uses, with the events of a real one. */
export class StubCache {
  readonly directory = `/nowhere/${randomUUID()}`;
  readonly digests = new Set<string>();

  /** Adds an image with the digest of a name, which it returns. */
  fill(name: string | number): string {
    const digest = digestOf(name);
    this.digests.add(digest);
    FILL.publish({ directory: this.directory, digest });
    return digest;
  }

  evict(digest: string): void {
    this.digests.delete(digest);
    EVICT.publish({ directory: this.directory, digest });
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
