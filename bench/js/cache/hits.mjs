// How long it takes to get an image that is there, whatever its size.
import { open } from "node:fs/promises";
import { LOOPBACK } from "../restore/plan.mjs";
import { say } from "../restore/say.mjs";
import { Server } from "../restore/server.mjs";
import { firstHit } from "./first-hits.mjs";
import { times } from "./results.mjs";
import { takeTurns, timeOf } from "./turns.mjs";

/** @typedef {import("./images.mjs").Sample} Sample */
/** @typedef {import("../../../js/snapshot/dist/index.js").ImageCache} ImageCache */

/**
 * @param {ImageCache} cache
 * @param {Sample[]} samples
 * @param {import("./plan.mjs").Plan} plan
 */
export async function measureHits(cache, samples, plan) {
  const server = await Server.start(LOOPBACK, { files: samples.map(({ snapshot }) => snapshot) });
  try {
    const results = [];
    for (const sample of samples) {
      say(`hits of ${sample.name}`);
      results.push(...(await measureOne(cache, sample, server.url(sample.snapshot), plan)));
    }
    return results;
  } finally {
    await server.stop();
  }
}

/**
 * @param {ImageCache} cache
 * @param {Sample} sample
 * @param {string} url
 * @param {import("./plan.mjs").Plan} plan
 */
async function measureOne(cache, { name, digest }, url, { hits, processes }) {
  const { path, release } = await cache.get(url);
  await release();
  const repeated = await takeTurns(
    [
      { name: "hedgerow", time: () => timeOf(() => getAndRelease(cache, url, digest)) },
      { name: "without digest", time: () => timeOf(() => getAndRelease(cache, url)) },
      { name: "open of a file, then close", time: () => timeOf(() => openAndClose(path)) },
    ],
    hits,
  );
  const { directory } = cache;
  const openings = /** @type {number[]} */ ([]);
  const first = await takeTurns(
    [
      {
        name: "first of a process",
        time: () => {
          const { open: opening, get } = firstHit(directory, url, digest);
          openings.push(opening + get);
          return get;
        },
      },
      {
        name: "first of a process, without digest",
        time: () => firstHit(directory, url).get,
      },
    ],
    processes,
  );
  // The first one was to make everything warm.
  const withOpening = { name: "first of a process, and opening", samples: openings.slice(1) };
  return times("hits", name, [...repeated, ...first, withOpening]);
}

/** @param {ImageCache} cache @param {string} url @param {string} [digest] */
async function getAndRelease(cache, url, digest) {
  const { hit, release } = await cache.get(url, { digest });
  if (!hit) throw new Error("expected the image in the cache");
  await release();
}

/** What is the least that using a file takes. @param {string} path */
async function openAndClose(path) {
  const file = await open(path);
  await file.close();
}
