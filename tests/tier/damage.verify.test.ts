/** Damaged and stale bytes in the cache of a tier. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SharedTier } from "@hedgerow/fleet";
import { restoreSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";

import { seededRandom } from "../origin/random.mjs";
import { minutes, trials } from "../support/trials.js";
import { ONE, openHosts, storedSnapshot, testFolder } from "./stored.js";

const SIZE = 16 * 2 ** 20;

/** The size of an image whose snapshot has several slices of 256 KiB. */
const SMALL = 4 * 2 ** 20;

/** A multiple of three, the number of shares of old slices. */
const TRIALS = trials({ few: 3, all: 18 });

const OPTIONS = { ...ONE, overwrite: true };

/** More than the headers of a file of nginx's cache. */
const HEADERS = 4096;

/** Returns the files of nginx's cache. */
const filesOf = (cache: string) =>
  readdirSync(cache, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** Flips a bit in every 64 KiB of the bodies of all files. */
function damage(cache: string): void {
  for (const file of filesOf(cache)) {
    const bytes = readFileSync(file);
    for (let at = HEADERS; at < bytes.length; at += 2 ** 16) bytes[at]! ^= 1;
    writeFileSync(file, bytes);
  }
}

test("hosts that find damaged bytes make the tier fetch them anew", async () => {
  const { tier, counter, source, at, digest, sum, bytes } = await storedSnapshot(SIZE);
  const [first, second, third] = await openHosts(3);
  const options = { ...at(tier.url), digest };
  expect(await first?.get(source, options)).toBe(sum);
  damage(tier.cache);
  expect(await second?.get(source, options)).toBe(sum);
  expect(counter.bytes()).toBeGreaterThan(1.5 * bytes);
  const repaired = counter.bytes();
  expect(await third?.get(source, options)).toBe(sum);
  expect(counter.bytes()).toBe(repaired);
});

test("a host goes around a tier that keeps damaged bytes, until these are removed", async () => {
  const changes = [["proxy_cache_bypass $refresh;", ""]] as const;
  const { s3, tier, counter, source, at, digest, sum } = await storedSnapshot(SIZE, { changes });
  const [first, second, third, fourth] = await openHosts(4);
  const errors: unknown[] = [];
  const route = new SharedTier({
    ...{ tier: tier.url, store: s3.endpoint, onError: (error: unknown) => errors.push(error) },
  });
  const options = { ...at(tier.url), digest };
  expect(await first?.get(source, options)).toBe(sum);
  damage(tier.cache);
  await expect(second?.get(source, options)).rejects.toMatchObject({ code: "ERR_SNAPSHOT_FORMAT" });
  const got = await route.read((endpoint, more) =>
    third!.get(source, { ...at(endpoint), ...more, digest }),
  );
  expect(got).toBe(sum);
  expect(errors).toMatchObject([{ code: "ERR_SNAPSHOT_FORMAT" }]);
  expect(route.isAvoided).toBe(false);
  for (const name of readdirSync(tier.cache)) rmSync(join(tier.cache, name), { recursive: true });
  const before = counter.bytes();
  expect(await fourth?.get(source, options)).toBe(sum);
  expect(counter.bytes()).toBeGreaterThan(before);
});

test(
  "a restore never mixes versions of an object of which the tier has slices",
  minutes({ all: 3 }),
  async () => {
    const seed = 23;
    const stored = await storedSnapshot(SMALL, { changes: [["slice 2m", "slice 256k"]] });
    const { tier, s3, source, at } = stored;
    const random = seededRandom(seed);
    const target = join(testFolder(), "image");
    let latest: { readonly sum: string } = stored;
    const outcomes = new Set<string>();
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const versions = [latest.sum];
      await restoreSnapshot(source, target, { ...OPTIONS, ...at(tier.url) }).catch(() => {});
      latest = await stored.replace(`version ${trial}`);
      versions.push(latest.sum);
      // Some slices of the version before stay in the cache: all, none, or a part.
      const share = [0, 1, 0.5][trial % 3] ?? 0;
      for (const file of filesOf(tier.cache)) if (random() < share) rmSync(file);
      const through = { ...OPTIONS, ...at(tier.url), retries: 1 };
      const about = `seed ${seed}, trial ${trial}`;
      const outcome = await restoreSnapshot(source, target, through).then(
        () => sumOf(target),
        ({ code }) => String(code),
      );
      expect([...versions, "ERR_SOURCE", "ERR_SOURCE_CHANGED"], about).toContain(outcome);
      outcomes.add(outcome === latest.sum ? "new" : outcome === versions[0] ? "old" : outcome);
      const route = new SharedTier({ tier: tier.url, store: s3.endpoint, pause: 0 });
      await route.read((endpoint, more) =>
        restoreSnapshot(source, target, { ...OPTIONS, ...at(endpoint), ...more }),
      );
      expect(versions, about).toContain(sumOf(target));
      for (const file of filesOf(tier.cache)) rmSync(file);
    }
    // All slices were those of the old version, or of the new one.
    expect([...outcomes]).toEqual(expect.arrayContaining(["old", "new"]));
  },
);

const sumOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
