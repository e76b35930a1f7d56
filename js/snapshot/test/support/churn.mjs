// Uses a cache at random, the same way in every run as far as other processes allow. Images in use must stay intact.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { seededRandom } from "../../../../tests/origin/random.mjs";

/** @typedef {import("@hedgerow/snapshot").ImageCache} ImageCache */
/** @typedef {import("@hedgerow/snapshot").CachedImage} CachedImage */
/** @typedef {import("./cache-job.ts").ChurnCommand} ChurnCommand */
/** @typedef {import("./cache-job.ts").ChurnKind} ChurnKind */
/** @typedef {import("./cache-job.ts").ChurnSample} ChurnSample */
/** @typedef {import("./cache-job.ts").Churned} Churned */
/** @typedef {import("./cache-job.ts").Use} Use */

/**
 * An image in use.
 *
 * @typedef {object} Held
 * @property {CachedImage} image
 * @property {ChurnSample} sample
 * @property {number} from
 */

/** Returns milliseconds of a clock that all processes share. */
const now = () => Number(process.hrtime.bigint()) / 1e6;

/** @param {Held} held */
function check({ image: { path }, sample: { digest, sum } }) {
  const found = createHash("sha256").update(readFileSync(path)).digest("hex");
  if (found !== sum) throw new Error(`${path}: expected the image of ${digest}, found another`);
}

/**
 * @param {ImageCache} first
 * @param {ChurnCommand} command
 * @param {{ reopen: () => Promise<ImageCache>, report: (activity: string) => void, signal: AbortSignal }} how
 * @returns {Promise<Churned>}
 */
export async function churn(first, command, { reopen, report, signal }) {
  const { samples, seed, steps = Number.POSITIVE_INFINITY, kinds, held: limits } = command;
  const random = seededRandom(seed);
  /** @param {number} end */
  const below = (end) => Math.floor(random() * end);
  let cache = first;
  /** @type {Held[]} */
  const held = [];
  /** @type {Use[]} */
  const uses = [];
  let [hits, misses] = [0, 0];

  const get = async () => {
    // Some images are more frequent than others.
    const sample = /** @type {ChurnSample} */ (samples[Math.floor(samples.length * random() ** 3)]);
    const { snapshot, digest } = sample;
    report((await cache.has(snapshot, { digest })) ? "hit" : "fill");
    const from = now();
    const image = await cache.get(snapshot, { workers: 1, ...(random() < 0.5 && { digest }) });
    if (image.hit) hits += 1;
    else misses += 1;
    held.push({ image, sample, from });
  };
  const release = async () => {
    const [ended] = held.splice(below(held.length), 1);
    if (ended === undefined) return;
    check(ended);
    await ended.image.release();
    uses.push({ digest: ended.sample.digest, from: ended.from, to: now() });
  };
  const releaseAll = async () => {
    while (held.length > 0) await release();
  };
  /** @type {Record<ChurnKind, () => Promise<unknown>>} */
  const actions = {
    get,
    release,
    delete: () => {
      const { snapshot, digest } = /** @type {ChurnSample} */ (samples[below(samples.length)]);
      return cache.delete(snapshot, { digest });
    },
    shrink: async () => cache.prune((await cache.stats()).maxBytes / 2),
    clear: () => cache.clear(),
    verify: async () => {
      const { damaged } = await cache.verify();
      if (damaged.length > 0) throw new Error(`expected no damaged image, found ${damaged}`);
    },
    reopen: async () => {
      await releaseAll();
      cache = await reopen();
    },
  };

  for (let step = 0; step < steps && !signal.aborted; step += 1) {
    const share = Number.isFinite(steps) ? step / steps : 0;
    const limit = limits[Math.floor(share * limits.length)] ?? 0;
    while (held.length > limit) await release();
    const kind = /** @type {ChurnKind} */ (kinds[below(kinds.length)]);
    if (kind !== "get") report(kind);
    await actions[kind]();
    const [any] = held.slice(below(held.length));
    if (any !== undefined) check(any);
  }
  await releaseAll();
  return { hits, misses, uses };
}
