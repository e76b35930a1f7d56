/** Processes that are killed while they use a cache, and the state that the next one finds. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ImageCache } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { diskUse, KIB, MIB, makeSample, strayFiles } from "../support/cache.js";
import { CacheProcess, type ChurnKind, type ChurnSample } from "../support/cache-job.js";

/** Space for about a third of the images. */
const OPTIONS = { maxBytes: 1.5 * MIB };

/** The number of kills per directory. */
const KILLS_EACH = 10;

/** The number of steps of processes that are not killed. */
const STEPS = trials({ few: 16, all: 200 });

/** How often they are used at most, until this share of the steps found an image, and this share did not. */
const [MAX_ROUNDS, MIN_SHARE] = [5, 1 / 30];

const KINDS: readonly ChurnKind[] = [
  ...(["get", "get", "get", "get", "get", "get", "release"] as const),
  ...(["delete", "shrink", "shrink", "clear", "verify", "reopen", "reopen"] as const),
];

const path = temporaryFolder();
const samples: ChurnSample[] = [];

beforeAll(async () => {
  for (let index = 0; index < 10; index += 1) {
    const data = 64 * KIB * (1 + (index % 6));
    const holes = index % 3 === 0 ? { size: MIB, stride: 128 * KIB } : {};
    const { snapshot, digest, image } = await makeSample(path, `${index}`, { data, ...holes });
    samples.push({ snapshot, digest, sum: sumOf(image) });
  }
});

function sumOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

/**
 * The activity during which a process is killed, and the maximum delay of the kill in milliseconds. Activities take
 * turns; random kills would nearly all hit fills, which take longest.
 */
const MOMENTS = [
  ...([
    ["start", 100],
    ["open", 20],
    ["fill", 60],
    ["fill", 60],
    ["hit", 4],
    ["release", 4],
  ] as const),
  ...([
    ["delete", 4],
    ["shrink", 6],
    ["clear", 6],
    ["verify", 8],
    ["reopen", 20],
  ] as const),
] as const;

/** Waits for the next activity of a process, and then for a random time. Returns the activity. */
async function waitForMoment(
  process: CacheProcess,
  number: number,
  random: () => number,
): Promise<string> {
  const [activity, maxDelay] = MOMENTS[number % MOMENTS.length]!;
  // A random process does everything sooner or later.
  if (activity !== "start") await process.untilReported(activity);
  await sleep(random() * maxDelay);
  return activity;
}

/** Returns the kinds of steps of a process that is killed. In `npm test` most are those during which it is killed. */
function kindsFor(number: number): readonly ChurnKind[] {
  const [activity] = MOMENTS[number % MOMENTS.length]!;
  const wanted = KINDS.find((kind) => kind === activity) ?? "get";
  return [...KINDS, ...Array<ChurnKind>(trials({ few: KINDS.length, all: 0 })).fill(wanted)];
}

/** Makes processes use a cache, and kills some of them. Returns the activity of each killed one. */
async function killSome(
  directory: string,
  random: () => number,
  number: number,
  { killed, spared }: { readonly killed: number; readonly spared: number },
): Promise<string[]> {
  const start = (kinds: readonly ChurnKind[]) => {
    const process = CacheProcess.start({ directory, options: OPTIONS });
    const seed = Math.floor(random() * 2 ** 31);
    const done = process.churn({ samples, seed, kinds, held: [2] });
    // The rejection is handled below.
    done.catch(() => {});
    return { process, done };
  };
  const victims = Array.from({ length: killed }, (_, index) => start(kindsFor(number + index)));
  const others = Array.from({ length: spared }, () => start(KINDS));
  const activities: string[] = [];
  for (const [index, { process, done }] of victims.entries()) {
    activities.push(await waitForMoment(process, number + index, random));
    await process.kill();
    await expect(done).rejects.toThrow("SIGKILL");
  }
  // The others end normally.
  await Promise.all(others.flatMap(({ process, done }) => [process.end(), done]));
  return activities;
}

/** Throws unless a closed cache is intact and works. */
async function expectWhole(directory: string, random: () => number): Promise<void> {
  const cache = await ImageCache.open(directory, OPTIONS);
  try {
    expect(strayFiles(directory)).toEqual([]);
    await expectCounted(cache);
    const entries = await cache.entries();
    for (const { digest } of entries) await expectImageOf(cache, path("nowhere"), digest, true);
    expect(await cache.verify()).toEqual({ good: entries.length, damaged: [] });

    const { snapshot, digest } = samples[Math.floor(random() * samples.length)]!;
    await cache.delete(snapshot);
    await expectImageOf(cache, snapshot, digest, false);
    await expectCounted(cache);
  } finally {
    await cache.close();
  }
  expect(strayFiles(directory)).toEqual([]);
}

async function expectCounted(cache: ImageCache): Promise<void> {
  const { bytes, excessBytes } = await cache.stats();
  expect(bytes).toBe(diskUse(cache.directory));
  expect(excessBytes).toBe(0);
}

async function expectImageOf(
  cache: ImageCache,
  source: string,
  digest: string,
  isHit: boolean,
): Promise<void> {
  const image = await cache.get(source, { digest, workers: 1 });
  expect(image.hit).toBe(isHit);
  expect(sumOf(image.path)).toBe(samples.find((sample) => sample.digest === digest)?.sum);
  await image.release();
}

test.each([
  { many: "one at a time", kills: trials({ few: 11, all: 33 }), killed: 1, spared: 0, seed: 1 },
  { many: "three of four", kills: trials({ few: 3, all: 21 }), killed: 3, spared: 1, seed: 3 },
])(
  "leaves an intact cache after each of $kills kills, $many",
  // Many processes start and are killed.
  minutes({ all: 3 }),
  async ({ kills, killed, spared, seed }) => {
    const random = seededRandom(seed);
    const counts: Record<string, number> = {};
    let done = 0;
    while (done < kills) {
      const directory = path(`cache-${seed}-${Math.floor(done / KILLS_EACH)}`);
      for (const activity of await killSome(directory, random, done, { killed, spared })) {
        counts[activity] = (counts[activity] ?? 0) + 1;
      }
      done += killed;
      await expectWhole(directory, random);
    }
    // Every activity was interrupted, if there were enough kills.
    for (const [activity] of kills < MOMENTS.length ? [] : MOMENTS)
      expect(counts[activity], activity).toBeGreaterThan(Math.floor(kills / 40));
  },
);

// Hundreds of images are restored by each process.
test(
  "lets processes that use one cache at random work side by side",
  minutes({ all: 2 }),
  async () => {
    const directory = path("alive");
    const processes = [1, 2, 3, 4].map(() => CacheProcess.start({ directory, options: OPTIONS }));
    const churn = (round: number) =>
      processes.map((process, index) => {
        const seed = 1 + index + processes.length * round;
        return process.churn({ samples, seed, kinds: KINDS, held: [3], steps: STEPS });
      });
    let [hits, misses, rounds] = [0, 0, 0];
    const share = () => Math.min(hits, misses) / (STEPS * processes.length * rounds);
    // Which process finds an image that another one has restored is a matter of chance.
    while (rounds === 0 || (rounds < MAX_ROUNDS && share() <= MIN_SHARE)) {
      for (const counts of await Promise.all(churn(rounds))) {
        hits += counts.hits;
        misses += counts.misses;
      }
      rounds += 1;
    }
    expect(share()).toBeGreaterThan(MIN_SHARE);
    await Promise.all(processes.map((process) => process.end()));
    await expectWhole(directory, seededRandom(5));
  },
);

test("removes each kind of file that a killed process can leave", async () => {
  const directory = path("left");
  const opened = await ImageCache.open(directory, OPTIONS);
  await opened.close();
  const [known, other] = [samples[0]!.digest, samples[1]!.digest];
  const names = [
    ...["totals.json.new", "excess", `images/${known}.img`, `images/${other}.record`],
    ...["claim", "record", "65536.part"].map((kind) => `filling/${known}.${kind}`),
  ];
  for (const name of names) writeFileSync(join(directory, name), "{}", { mode: 0o600 });
  expect(strayFiles(directory)).toEqual([...names].sort());
  await expectWhole(directory, seededRandom(4));
});
