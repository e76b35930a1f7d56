/** Caches that have space for three of six images of 1 MiB, named "a" to "f". */
import type { CachedImage, ImageCache } from "@hedgerow/snapshot";
import { expect } from "vitest";

import { digestsIn, expectImage, MIB, makeSamples, type Sample } from "./cache.js";

const NAMES = "abcdef";

/** The options of a cache with space for three images, and not for four. */
export const THREE_IMAGES = { maxBytes: 4 * MIB };

/** Six images of 1 MiB, each named by a letter. */
export class LetterImages {
  private constructor(private readonly samples: readonly Sample[]) {}

  static async make(path: (...parts: string[]) => string): Promise<LetterImages> {
    return new LetterImages(await makeSamples(path, [...NAMES], { data: MIB }));
  }

  /** The sample of a letter. */
  of(name: string): Sample {
    const sample = this.samples[NAMES.indexOf(name)];
    if (sample === undefined) throw new Error(`expected a letter of ${NAMES}, found ${name}`);
    return sample;
  }

  /** Returns the letters of the images in a cache, in order. */
  in({ directory }: ImageCache): string {
    const digests = digestsIn(directory);
    return [...NAMES].filter((name) => digests.includes(this.of(name).digest)).join("");
  }

  /** Gets images one after the other, and keeps their leases. */
  async lease(cache: ImageCache, names: string): Promise<CachedImage[]> {
    const images: CachedImage[] = [];
    for (const name of names) {
      const { snapshot, digest } = this.of(name);
      images.push(await cache.get(snapshot, { digest, workers: 1 }));
    }
    return images;
  }

  /** Gets images one after the other, and releases each at once. Returns the letters of the hits. */
  async use(cache: ImageCache, names: string): Promise<string> {
    let hits = "";
    for (const name of names) {
      const [image] = await this.lease(cache, name);
      await expectImage(image!.path, this.of(name));
      if (image!.hit) hits += name;
      await image!.release();
    }
    return hits;
  }

  /** Throws unless a cache lists images in an order, the most recently used first. */
  async expectOrder(cache: ImageCache, names: string): Promise<void> {
    const found = (await cache.entries()).map(({ digest }) => digest);
    expect(found).toEqual([...names].map((name) => this.of(name).digest));
  }
}
