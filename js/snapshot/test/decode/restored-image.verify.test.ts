/** Processes that are killed while they restore from a server, and those that resume the restore. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { startOrigin } from "../../../../tests/origin/origin.mjs";
import { seededRandom } from "../../../../tests/origin/random.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { type Job, killAfter, run } from "../support/job.js";
import { manifestOf, missingBytes, resumePaths } from "../support/resume-state.js";

/** How many processes are killed, and how many run at a time. */
const KILLS = trials({ few: 4, all: 50 });
const CONCURRENCY = 3;

/** How much more than the missing frames may be fetched: a share of them, and the end of the snapshot in bytes. */
const EXTRA = 0.1;
const END = 2 ** 19;

const CONNECTIONS = 4;

/** Slow enough that a restore takes about a second, so that kills hit different moments. */
const BYTES_PER_SECOND = 2_000_000;

/** The share of kills before the first frame is restored, and how long that takes, in milliseconds. */
const [START_SHARE, START_TIME] = [0.2, 300];

const path = temporaryFolder();
const [image, snapshot] = [path("image"), path("image.vhs")];

/** Alternating data and holes. */
const bytes = Buffer.concat(
  Array.from({ length: 8 }, (_, index) => [
    noise(`${index}`, 2 ** 20 + 5000 * index),
    Buffer.alloc(2 ** 19),
  ]).flat(),
);

beforeAll(async () => {
  writeFileSync(image, bytes);
  await createSnapshot(image, snapshot, { pieceSize: 2 ** 17 });
});

// Each kill takes two processes, and a second of a slow server.
const LIMIT = minutes({ all: 3 });

test(
  `resumes after each of ${KILLS} kills, fetches only what is missing, and restores every byte`,
  LIMIT,
  async () => {
    const manifest = await manifestOf(snapshot);
    const { info, frames } = manifest;
    expect(info.holeFrames).toBeGreaterThan(4);
    const whole = createHash("sha256").update(bytes).digest("hex");
    const origin = await startOrigin({ conditions: { bytesPerSecond: BYTES_PER_SECOND } });
    const all = missingBytes(manifest, path("nothing"));
    const random = seededRandom(5);
    const shares: number[] = [];
    let [tries, killed] = [0, 0];

    const sentOf = (url: string) =>
      origin.requests
        .filter((request) => request.path === url)
        .reduce((sum, { bytesSent }) => sum + bytesSent, 0);

    const kill = async () => {
      // A job that ended before the kill does not count.
      while (killed < KILLS && tries < 3 * KILLS) {
        // Stratify the kills: some by time, before the first frame, the rest by the share of restored bytes.
        const stretch = ((tries % KILLS) + random()) / KILLS;
        const share = (stretch - START_SHARE) / (1 - START_SHARE);
        const name = `${tries}`;
        tries += 1;
        mkdirSync(path(name));
        const target = path(name, "target");
        const jobOf = (url: string): Job => {
          origin.set(url, snapshot);
          const options = { workers: 2, connections: CONNECTIONS, partSize: 2 ** 20, resume: true };
          return { call: "restoreSnapshot", source: origin.url(url).href, target, options };
        };

        const isTime = () => missingBytes(manifest, target) <= (1 - share) * all;
        const moment = share < 0 ? (stretch / START_SHARE) * START_TIME : isTime;
        const wasRunning = await killAfter(moment, jobOf(`/${name}/killed`));
        if (!wasRunning) continue;
        killed += 1;
        const missing = missingBytes(manifest, target);
        shares.push(missing / all);
        // At the last moment, the image has been renamed and the journal still exists.
        const { partial, journal } = resumePaths(target, info.digest);
        const kept = readdirSync(path(name)).map((other) => path(name, other));
        for (const other of kept) expect([partial, journal, target]).toContain(other);

        const outcome = await run(jobOf(`/${name}/next`));
        expect(outcome, `killed at ${stretch}`).toMatchObject({
          ...{ error: null, running: 0, names: ["target"], target: whole },
        });
        const max = kept.includes(target) ? all : missing;
        expect(sentOf(`/${name}/next`)).toBeLessThanOrEqual(max * (1 + EXTRA) + END);
        rmSync(path(name), { recursive: true });
      }
    };
    try {
      await Promise.all(Array.from({ length: CONCURRENCY }, kill));
    } finally {
      await origin.close();
    }
    expect(killed).toBeGreaterThanOrEqual(KILLS);
    expect(frames.count).toBeGreaterThan(64);
    // Kills hit restores that had done little, and much.
    expect(Math.max(...shares)).toBeGreaterThan(0.8);
    expect(Math.min(...shares)).toBeLessThan(0.4);
  },
);
