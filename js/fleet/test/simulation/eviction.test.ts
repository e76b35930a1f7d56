/** The simulated cache evicts the same images as a real one, over random traces of requests and releases. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { type CacheComponents, openComponents } from "../../../snapshot/src/cache/components.js";
import { recordLength } from "../../../snapshot/src/cache/directory/image-record.js";
import { MARGIN } from "../../../snapshot/src/cache/eviction/margin.js";
import { KeyedLock } from "../../../snapshot/src/cache/locks/keyed-lock.js";
import type { Lease } from "../../../snapshot/src/cache/locks/leases.js";
import {
  digestOf,
  JOURNAL,
  manifestOf,
  quickFolder,
  RECORD,
  recordOf,
} from "../../../snapshot/test/support/stored-images.js";
import { HostCache } from "../../src/simulation/host-cache.js";
import { Random } from "../../src/simulation/random.js";

const TRACES = trials({ few: 60, all: 500 });

/** Each of them fills a cache on disk. */
const LIMIT = minutes({ all: 3 });

const STEPS = 30;

const BLOCK = 4096;

const path = quickFolder();

/** An image of the traces. */
interface Image {
  readonly digest: string;
  readonly blocks: number;
}

/** A fill that has reserved its space. */
interface Fill {
  readonly image: Image;
  /** Writes and publishes the image. */
  end(): Promise<Lease>;
}

const MAX_BLOCKS = 12;

/** A real cache and a simulated one, which do the same. */
class Both {
  readonly #real: CacheComponents;
  readonly #simulated: HostCache<string>;
  readonly #evicted: { real: string[]; simulated: string[] };
  readonly #held: Lease[] = [];
  readonly #filling: Fill[] = [];
  readonly counts = { hits: 0, evictions: 0, excesses: 0, refusals: 0 };
  readonly #limit: number;

  /** @param limit of images, without what a cache itself takes */
  constructor(real: CacheComponents, limit: number, evicted: string[]) {
    this.#real = real;
    this.#limit = limit;
    this.#evicted = { real: evicted, simulated: [] };
    this.#simulated = new HostCache(limit + MARGIN, (digest) => {
      this.#evicted.simulated.push(digest);
    });
  }

  /** Requests an image: uses it, or begins to fill it. */
  async request(image: Image): Promise<void> {
    const { digest, blocks } = image;
    if (this.#filling.some((fill) => fill.image.digest === digest)) return;
    const lease = await this.#real.store.take(digest);
    expect(this.#simulated.take(digest)).toBe(lease !== undefined);
    if (lease !== undefined) {
      this.counts.hits += 1;
      this.#held.push(lease);
      return;
    }
    const needed = blocks * BLOCK + RECORD + JOURNAL;
    if (!this.#simulated.reserve(digest, needed)) {
      this.counts.refusals += 1;
      await expect(this.#reserve(image)).rejects.toMatchObject({ code: "ERR_CACHE_SIZE" });
      return;
    }
    this.#filling.push(await this.#begin(image));
    if (this.#simulated.bytes > this.#limit) this.counts.excesses += 1;
  }

  #reserve({ digest, blocks }: Image) {
    const manifest = manifestOf(digest, blocks * BLOCK);
    return this.#real.writer.reserve(manifest, recordLength(manifest, "nowhere"));
  }

  /** Begins a fill, with the lock that keeps others from removing it as abandoned. */
  #begin(image: Image): Promise<Fill> {
    const { layout, writer } = this.#real;
    const { digest, blocks } = image;
    const options = { requester: "", onWaited: () => {} };
    return new Promise((resolve, reject) => {
      const published = new KeyedLock(layout).run(
        digest,
        options,
        async () => undefined,
        async () => {
          const reserved = await this.#reserve(image);
          await new Promise<void>((end) => {
            const ended = () => {
              end();
              return published;
            };
            resolve({ image, end: ended });
          });
          const bytes = Buffer.alloc(blocks * BLOCK, digest);
          await reserved.file.write(bytes, 0, bytes.length, 0);
          const record = await recordOf(manifestOf(digest, bytes.length), reserved.file);
          const lease = await writer.publish(digest, reserved, record);
          await reserved.file.close();
          return lease;
        },
      );
      published.catch(reject);
    });
  }

  /** Ends a fill, which begins a use. */
  async fill(index: number): Promise<void> {
    const [fill] = this.#filling.splice(index, 1);
    if (fill === undefined) return;
    this.#held.push(await fill.end());
    const { digest, blocks } = fill.image;
    this.#simulated.publish(digest, blocks * BLOCK + RECORD);
  }

  /** Ends a use. */
  async release(index: number): Promise<void> {
    const [lease] = this.#held.splice(index, 1);
    if (lease === undefined) return;
    await this.#real.store.release(lease);
    this.#simulated.release(lease.info.digest);
  }

  /** Throws unless both evicted the same images in the same order. */
  expectSame(): void {
    expect(this.#evicted.simulated).toEqual(this.#evicted.real);
    this.counts.evictions = this.#evicted.real.length;
  }

  async end(): Promise<void> {
    while (this.#filling.length > 0) await this.fill(0);
    while (this.#held.length > 0) await this.release(0);
    this.expectSame();
    const { images } = await this.#real.store.inventory();
    const sorted = [...images].sort((one, other) => (one.used < other.used ? -1 : 1));
    expect(this.#simulated.images()).toEqual(sorted.map(({ digest }) => digest));
    expect(this.#simulated.bytes).toBe(images.reduce((sum, { bytes }) => sum + bytes, 0));
  }
}

/** Returns the bytes of an empty cache. */
async function emptyBytes(): Promise<number> {
  const empty = await openComponents(path("empty"), { maxBytes: Number.MAX_SAFE_INTEGER });
  const { bytes } = await empty.store.inventory();
  await empty.close();
  return bytes;
}

async function playTrace(seed: number, ownBytes: number): Promise<Both["counts"]> {
  const random = new Random(seed);
  const images = Array.from({ length: 2 + random.below(9) }, (_, index): Image => {
    return { digest: digestOf(index), blocks: 1 + random.below(MAX_BLOCKS) };
  });
  const limit = (3 + random.below(40)) * BLOCK;
  const directory = path(`${seed}`);
  const real = await openComponents(directory, { maxBytes: ownBytes + MARGIN + limit });
  const evicted: string[] = [];
  const note = (message: unknown) => evicted.push((message as { digest: string }).digest);
  subscribe("hedgerow:cache:evict", note);
  const both = new Both(real, limit, evicted);
  try {
    for (let step = 0; step < STEPS; step += 1) {
      const kind = random.next();
      // Lower indexes are more frequent.
      if (kind < 0.5) await both.request(images[Math.floor(images.length * random.next() ** 2)]!);
      else if (kind < 0.7) await both.fill(random.below(3));
      else await both.release(random.below(4));
      both.expectSame();
    }
    await both.end();
    return both.counts;
  } finally {
    unsubscribe("hedgerow:cache:evict", note);
    await real.close();
    rmSync(directory, { recursive: true });
  }
}

test(`evicts the same images as a real cache over ${TRACES} random traces`, LIMIT, async () => {
  const ownBytes = await emptyBytes();
  const sums = { hits: 0, evictions: 0, excesses: 0, refusals: 0 };
  for (let seed = 1; seed <= TRACES; seed += 1) {
    try {
      const counts = await playTrace(seed, ownBytes);
      for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += counts[name];
    } catch (error) {
      throw new Error(`the trace of seed ${seed} differs`, { cause: error });
    }
  }
  // Each case occurs in many of the traces.
  expect(sums.hits).toBeGreaterThan(TRACES);
  expect(sums.evictions).toBeGreaterThan(TRACES);
  expect(sums.excesses).toBeGreaterThan(TRACES / 4);
  expect(sums.refusals).toBeGreaterThan(TRACES / 4);
});
