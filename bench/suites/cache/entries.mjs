// Times opening caches of few and many images, and hits in them.
import { join } from "node:path";

import { ImageCache } from "../../../js/snapshot/dist/index.js";
import { seededRandom } from "../../../tests/origin/random.mjs";
import { log } from "../../harness/progress.mjs";
import { takeTurns, timeOf } from "../../harness/turns.mjs";
import { makeEntries, times } from "./caches.mjs";
import { firstHit } from "./hits.mjs";
import { NO_EVICTION } from "./plan.mjs";

/** A source that is never read, because digests are given. */
const SOURCE = "/nowhere.vhs";

const WITHOUT_EVICTION = { maxBytes: NO_EVICTION };

/** @param {string} folder @param {import("./plan.mjs").Plan} plan */
export async function measureEntries(folder, { entries, opens, hits }) {
  const caches = [];
  for (const count of entries) {
    log(`a cache of ${count} images`);
    const directory = join(folder, `entries-${count}`);
    const digests = await makeEntries(directory, count);
    caches.push({ name: String(count), directory, digests });
  }
  const firstOpenings = caches.map(({ name, directory, digests: [digest = ""] }) => ({
    name,
    time: () => firstHit(directory, SOURCE, digest).open,
  }));
  const openings = caches.map(({ name, directory }) => ({
    name,
    async time() {
      const begin = performance.now();
      const cache = await ImageCache.open(directory, WITHOUT_EVICTION);
      const elapsed = performance.now() - begin;
      await cache.close();
      return elapsed;
    },
  }));
  const what = "number of images";
  const results = [
    ...times(what, "opening, in a fresh process", await takeTurns(firstOpenings, opens)),
    ...times(what, "opening, again and again", await takeTurns(openings, opens)),
  ];

  const random = seededRandom(1);
  const opened = await Promise.all(
    caches.map(async ({ directory, ...rest }) => ({
      ...rest,
      cache: await ImageCache.open(directory, WITHOUT_EVICTION),
    })),
  );
  const randomHits = opened.map(({ name, digests, cache }) => ({
    name,
    time() {
      const digest = digests[Math.floor(random() * digests.length)];
      return timeOf(async () => (await cache.get(SOURCE, { digest })).release());
    },
  }));
  results.push(...times(what, "a hit", await takeTurns(randomHits, hits)));
  for (const { cache } of opened) await cache.close();
  return results;
}
