/** Processes that are killed while they create or restore a snapshot. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { letters } from "../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../tests/support/trials.js";
import { Random } from "../../edge/test/support/random.js";
import { type Job, killAfter, run } from "./support/job.js";

/** How many processes of each kind are killed, and how many run at a time. */
const KILLS = trials({ few: 4, all: 50 });
const CONCURRENCY = 2;
/** How often a process measures the duration of a job. */
const ROUNDS = trials({ few: 1, all: 4 });
const OLD = "what was there before";

const path = temporaryFolder();
const [image, snapshot] = [path("image"), path("image.vhs")];

beforeAll(async () => {
  writeFileSync(image, letters("image", 2 ** 23));
  await createSnapshot(image, snapshot);
});

const digestOf = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest("hex");

/** Returns a job over an existing file in a new folder. */
function jobIn(name: string, { call, source }: Pick<Job, "call" | "source">): Job {
  mkdirSync(path(name), { recursive: true });
  const target = path(name, "target");
  writeFileSync(target, OLD);
  return { call, source, target, options: { workers: 2 } };
}

const works = [
  { call: "restoreSnapshot", source: snapshot, result: image, seed: 1 },
  { call: "createSnapshot", source: image, result: snapshot, seed: 2 },
] as const;

/** Returns the median duration of a job at the concurrency of the test, in milliseconds. */
async function usualDuration(work: Pick<Job, "call" | "source">, whole: string): Promise<number> {
  const durations: number[] = [];
  const measure = async (_: unknown, index: number) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const outcome = await run(jobIn(`measured-${index}`, work));
      expect(outcome).toMatchObject({ error: null, target: whole, names: ["target"] });
      durations.push(outcome.duration);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, measure));
  return durations.sort((a, b) => a - b)[durations.length >> 1]!;
}

test.each(works)(
  "$call, when killed, leaves the old file or the complete new one",
  // Dozens of processes start and are killed.
  minutes({ all: 3 }),
  async ({ result, seed, ...work }) => {
    const [old, whole] = [digestOf(OLD), digestOf(readFileSync(result))];
    const usual = await usualDuration(work, whole);
    const random = new Random(seed);
    const [counts, found] = [{ tries: 0, killed: 0 }, new Set<string>()];

    const kill = async () => {
      // A job that ended before the kill does not count.
      while (counts.killed < KILLS) {
        // Stratify the moments over the duration.
        const moment = (((counts.tries % KILLS) + random.below(1000) / 1000) / KILLS) * usual;
        const name = `killed-${counts.tries}`;
        counts.tries += 1;

        const job = jobIn(name, work);
        const wasRunning = await killAfter(moment, job);
        counts.killed += wasRunning ? 1 : 0;
        const target = digestOf(readFileSync(job.target));
        expect([old, whole], `after ${moment} ms`).toContain(target);
        found.add(target);

        const others = readdirSync(path(name)).filter((other) => other !== "target");
        expect(others.length).toBeLessThanOrEqual(1);
        for (const other of others) expect(other).toMatch(/^\.hedgerow-[0-9a-f-]+\.tmp$/);
        rmSync(path(name), { recursive: true });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, kill));
    expect(found).toContain(old);
  },
);
