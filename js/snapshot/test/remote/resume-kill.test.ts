/** Processes that are killed while they restore from a server, and the next ones, which go on from there. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { startOrigin } from "../../../../tests/origin/origin.mjs";
import { seededRandom } from "../../../../tests/origin/random.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { type Job, killAfter, run } from "../support/job.js";
import { manifestOf, missingBytes, resumePaths } from "../support/resume-state.js";

/** How many processes are killed, and how many at a time. */
const KILLS = trials({ few: 9, all: 50 });
const AT_A_TIME = 3;

/** How much more than what is missing may be fetched, and what says what is missing, in bytes. */
const EXTRA = 0.1;
const END = 2 ** 19;

/** So slow that there are many moments: it takes about a second. */
const CONNECTIONS = 4;

const BYTES_PER_SECOND = 2_000_000;

/** How many of all kills are in the time until something is restored, and how long that is, in milliseconds. */
const [BEGINNING, BEGUN] = [0.2, 300];

const path = temporaryFolder();
const [image, snapshot] = [path("image"), path("image.vhs")];

/** Data and holes, in turns. */
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

test(`after each of ${KILLS} kills, what is missing is fetched, and no byte is wrong`, async () => {
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
    // Those that were done before do not count.
    while (killed < KILLS && tries < 3 * KILLS) {
      // One moment in each of so many stretches of the work, so that none is left out: first of the time in
      // which it begins, and then of what is to be done, however long that takes.
      const stretch = ((tries % KILLS) + random()) / KILLS;
      const share = (stretch - BEGINNING) / (1 - BEGINNING);
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
      const moment = share < 0 ? (stretch / BEGINNING) * BEGUN : isTime;
      const wasAtWork = await killAfter(moment, jobOf(`/${name}/killed`));
      if (!wasAtWork) continue;
      killed += 1;
      const missing = missingBytes(manifest, target);
      shares.push(missing / all);
      // In the last moment, the image has its name, and the journal is there.
      const { partial, journal } = resumePaths(target, info.digest);
      const kept = readdirSync(path(name)).map((other) => path(name, other));
      for (const other of kept) expect([partial, journal, target]).toContain(other);

      const outcome = await run(jobOf(`/${name}/next`));
      expect(outcome, `killed at ${stretch} of it`).toMatchObject({
        ...{ error: null, running: 0, names: ["target"], target: whole },
      });
      const most = kept.includes(target) ? all : missing;
      expect(sentOf(`/${name}/next`)).toBeLessThanOrEqual(most * (1 + EXTRA) + END);
      rmSync(path(name), { recursive: true });
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_A_TIME }, kill));
  } finally {
    await origin.close();
  }
  expect(killed).toBeGreaterThanOrEqual(KILLS);
  expect(frames.count).toBeGreaterThan(64);
  // There were some with little done, and with much.
  expect(Math.max(...shares)).toBeGreaterThan(0.8);
  expect(Math.min(...shares)).toBeLessThan(0.4);
}, 400_000);
