// Times opening caches of few and many images, and hits in them.
import { join } from "node:path";

import { ImageCache } from "../../../js/snapshot/dist/index.js";
import { seededRandom } from "../../../tests/origin/random.mjs";
import { log } from "../../harness/progress.mjs";
import { takeTurns, timeOf } from "../../harness/turns.mjs";
import { firstHit } from "./first-hits.mjs";
import { makeEntries } from "./many-entries.mjs";
import { NO_EVICTION } from "./plan.mjs";
import { times } from "./results.mjs";

/** A source that is never read, because digests are given. */
const SOURCE = "/nowhere.vhs";

/** @typedef {{ name: string, directory: string, digests: string[] }} Filled */

/**
 * @param {string} folder
 * @param {import("./plan.mjs").Plan} plan
 */
export async function measureEntries(folder, { entries, opens, hits }) {
  const caches = [];
  for (const count of entries) {
    log(`a cache of ${count} images`);
    const directory = join(folder, `entries-${count}`);
    const digests = await makeEntries(directory, count);
    caches.push({ name: String(count), directory, digests });
  }
  const what = "number of images";
  return [
    ...times(what, "opening, in a fresh process", await measureFirstOpening(caches, opens)),
    ...times(what, "opening, again and again", await measureOpening(caches, opens)),
    ...times(what, "a hit", await measureHits(caches, hits)),
  ];
}

/** @param {Filled[]} caches @param {number} rounds */
function measureFirstOpening(caches, rounds) {
  const methods = caches.map(({ name, directory, digests: [digest = ""] }) => ({
    name,
    time: () => firstHit(directory, SOURCE, digest).open,
  }));
  return takeTurns(methods, rounds);
}

/** @param {Filled[]} caches @param {number} rounds */
function measureOpening(caches, rounds) {
  const methods = caches.map(({ name, directory }) => ({
    name,
    async time() {
      const begin = performance.now();
      const cache = await ImageCache.open(directory, { maxBytes: NO_EVICTION });
      const elapsed = performance.now() - begin;
      await cache.close();
      return elapsed;
    },
  }));
  return takeTurns(methods, rounds);
}

/** Gets random images. @param {Filled[]} caches @param {number} rounds */
async function measureHits(caches, rounds) {
  const random = seededRandom(1);
  const opened = await Promise.all(
    caches.map(async ({ name, directory, digests }) => {
      const cache = await ImageCache.open(directory, { maxBytes: NO_EVICTION });
      return { name, cache, digests };
    }),
  );
  const methods = opened.map(({ name, cache, digests }) => ({
    name,
    time() {
      const digest = digests[Math.floor(random() * digests.length)];
      return timeOf(async () => (await cache.get(SOURCE, { digest })).release());
    },
  }));
  const timed = await takeTurns(methods, rounds);
  for (const { cache } of opened) await cache.close();
  return timed;
}
