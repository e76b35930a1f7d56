/** The index of images, compared with a `Map` of sets. */
import { expect, test } from "vitest";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { trials } from "../../../../tests/support/trials.js";
import { digestOf } from "../../../snapshot/test/support/stored-images.js";
import { ImageIndex, wordsOf } from "../../src/residency/image-index.js";

const STEPS = trials({ few: 3_000, all: 200_000 });

const words = (digests: readonly string[]) => wordsOf(digests.join(""))!;

test.each([1, 2, 3])("equals a Map of sets after random changes, with the seed %i", (seed) => {
  const random = seededRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const index = new ImageIndex(Number.MAX_SAFE_INTEGER);
  const model = new Map<string, Set<string>>();
  const digests = Array.from({ length: 200 }, (_, at) => digestOf(at));
  for (let step = 0; step < STEPS; step += 1) {
    const host = `host-${pick(8)}`;
    const some = Array.from({ length: pick(6) }, () => digests[pick(digests.length)]!);
    const has = model.get(host) ?? new Set();
    const action = pick(10);
    if (action === 0) {
      index.delete(host);
      model.delete(host);
    } else if (action === 1) {
      index.replace(host, words(some));
      model.set(host, new Set(some));
    } else if (action < 6) {
      index.add(host, words(some));
      model.set(host, new Set([...has, ...some]));
    } else {
      index.remove(host, words(some));
      for (const digest of some) has.delete(digest);
    }
    const digest = digests[pick(digests.length)]!;
    const hosts = [...model].filter(([, images]) => images.has(digest)).map(([id]) => id);
    expect([...index.hostsOf(digest)].sort()).toEqual(hosts.sort());
    expect(index.count(host)).toBe(model.get(host)?.size ?? 0);
  }
  const pairs = [...model.values()].reduce((sum, images) => sum + images.size, 0);
  expect(index.size).toBe(pairs);
});

test("finds every image after it has grown, and none that was not added", () => {
  const index = new ImageIndex(Number.MAX_SAFE_INTEGER);
  const digests = Array.from({ length: 20_000 }, (_, at) => digestOf(at));
  index.add("host", words(digests));
  expect(digests.every((digest) => index.hostsOf(digest).has("host"))).toBe(true);
  expect(index.hostsOf(digestOf("other")).size).toBe(0);
  expect(index.hostsOf("another text").size).toBe(0);
});

test("holds as many images as allowed, and ignores more", () => {
  const index = new ImageIndex(3);
  const digests = [1, 2, 3, 4].map(digestOf);
  expect(index.add("a", words(digests.slice(0, 3)))).toBe(true);
  expect(index.add("b", words(digests.slice(3)))).toBe(false);
  expect(index.size).toBe(3);
  index.delete("a");
  expect(index.add("b", words(digests.slice(3)))).toBe(true);
});

test("rejects identities that are not hexadecimal, or incomplete", () => {
  expect(wordsOf(digestOf(1).replace(/.$/, "g"))).toBeUndefined();
  expect(wordsOf(digestOf(1).slice(1))).toBeUndefined();
  expect(wordsOf("ab")).toBeUndefined();
  expect(wordsOf("")).toHaveLength(0);
});
