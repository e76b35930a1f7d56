import { expect, test } from "vitest";
import { EventQueue } from "../../src/simulation/event-queue.js";
import { Links } from "../../src/simulation/links.js";
import { Random } from "../../src/simulation/random.js";

/** Runs downloads of one host to their end. Returns when each ended. */
function play(downloads: readonly { at: number; bytes: number; maxRate: number }[], rate: number) {
  const queue = new EventQueue();
  const links = new Links<number>(1, rate, (_, time) => queue.add(time, -1));
  for (const [index, { at }] of downloads.entries()) queue.add(at, index);
  const ends: number[] = [];
  while (queue.time < Infinity) {
    const now = queue.time;
    const index = queue.take();
    const download = downloads[index];
    if (download !== undefined) links.begin(0, index, download.bytes, download.maxRate, now);
    else for (const ended of links.ended(0, now)) ends[ended] = now;
  }
  return ends;
}

test("gives a download alone its maximum rate", () => {
  expect(play([{ at: 5, bytes: 1000, maxRate: 10 }], 100)).toEqual([105]);
  expect(play([{ at: 5, bytes: 1000, maxRate: 1000 }], 100)).toEqual([15]);
});

test("shares a link fairly, and gives to others what a slow download leaves", () => {
  // The first gets 10 per millisecond; the others 45 each until the second ends.
  const downloads = [
    { at: 0, bytes: 1000, maxRate: 10 },
    { at: 0, bytes: 450, maxRate: 100 },
    { at: 0, bytes: 900, maxRate: 100 },
  ];
  expect(play(downloads, 100)).toEqual([100, 10, 15]);
});

test("ends every download, no earlier than alone, and leaves no capacity unused", () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const random = new Random(seed);
    const downloads = Array.from({ length: 30 }, () => {
      return { at: random.below(50), bytes: 1 + random.below(5000), maxRate: 1 + random.below(40) };
    });
    const ends = play(downloads, 100);
    for (const [index, { at, bytes, maxRate }] of downloads.entries()) {
      expect(ends[index], `seed ${seed}`).toBeGreaterThan(at + bytes / maxRate - 0.01);
    }
    const bytes = downloads.reduce((sum, download) => sum + download.bytes, 0);
    const slowest = Math.max(...downloads.map((download) => download.bytes / download.maxRate));
    expect(Math.max(...ends), `seed ${seed}`).toBeLessThan(50 + bytes / 100 + slowest + 0.01);
  }
});
