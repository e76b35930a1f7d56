/** Random requests over several connections, while a disk fills, against a model of it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createSnapshot,
  inspectSnapshot,
  type OpenOptions,
  openSnapshot,
  restoreSnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { type FaultKind, randomFaults } from "../../../../tests/origin/fault.mjs";
import { startOrigin } from "../../../../tests/origin/origin.mjs";
import { seededRandom } from "../../../../tests/origin/random.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, letters, noise } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { Random } from "../../../edge/test/support/random.js";
import { makeChain } from "../support/deltas.js";
import { DiskModel } from "../support/disk-model.js";
import { DiskProcess } from "../support/disk-process.js";
import { NbdClient } from "../support/nbd-client.js";

/** Returns seeds from `first` on. */
const seedsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => first + at);

const RUNS = seedsFrom(1, trials({ few: 25, all: 500 }));

/** Of a chain on a server with faults, a snapshot in a file, and one on such a server without a fill. */
const FIRST_KILLS = [100_001, 100_003, 100_011];
const KILLS = [...new Set([...FIRST_KILLS, ...seedsFrom(100_001, 50)])].slice(
  0,
  trials({ few: FIRST_KILLS.length, all: 25 }),
);
/** How many run at a time: they mostly wait. */
const CONCURRENCY = 4;
const CONNECTIONS = 3;
const PIECE = 2 ** 16;

/** Faults that a retry mends, and that take no time. */
const KINDS: readonly FaultKind[] = ["cut", "reset", "short", "flip", "error"];

const path = temporaryFolder();

/** A snapshot, the files on the server, and its image. */
interface Sample {
  readonly files: Readonly<Record<string, Buffer>>;
  readonly image: Buffer;
}

/** The name of each file by its digest. */
const names: Record<string, string> = {};
let samples: readonly Sample[] = [];

beforeAll(async () => {
  // Data, holes, and an end that is not that of a block.
  const image = Buffer.concat([
    ...[noise("first", 3 * PIECE), Buffer.alloc(5 * PIECE), letters("second", 2 * PIECE)],
    ...[Buffer.alloc(PIECE), noise("last", 4 * PIECE + 1_234)],
  ]);
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("full.vhs"), { pieceSize: PIECE, workers: 1 });
  const chain = await makeChain(path);
  const files = Object.entries(chain.files).map(([name, bytes]) => [`/${name}`, bytes] as const);
  for (const name of ["full.vhs", ...Object.keys(chain.files)])
    names[(await inspectSnapshot(path(name))).digest] = path(name);
  samples = [
    { files: { "/a.vhs": readFileSync(path("full.vhs")) }, image },
    { files: Object.fromEntries(files), image: chain.image },
  ];
});

/** What a run works with. */
interface Setting {
  readonly random: Random;
  readonly model: DiskModel;
  readonly source: string;
  readonly options: OpenOptions;
  /** Returns the path of a file of the run. */
  readonly inFolder: (name: string) => string;
}

/** Runs with a server that has faults, in a folder of its own. */
async function withSetting(seed: number, use: (setting: Setting) => Promise<void>): Promise<void> {
  const random = new Random(seed);
  const { files, image } = samples[random.below(samples.length)] as Sample;
  const folder = path(`run-${seed}`);
  mkdirSync(folder);
  const inFolder = (name: string) => `${folder}/${name}`;
  const share = 0.1 * random.below(3);
  // Fewer flips: a frame that arrives damaged three times in a row is an error.
  const kinds = share > 0.1 ? KINDS.filter((kind) => kind !== "flip") : KINDS;
  const faults = randomFaults(seededRandom(seed), { share, kinds });
  const bytesPerSecond = random.below(3) === 0 ? 2e6 : undefined;
  const origin = await startOrigin({ files, faults, conditions: { bytesPerSecond } });
  try {
    const isRemote = random.below(4) > 0;
    for (const [name, bytes] of isRemote ? [] : Object.entries(files))
      writeFileSync(inFolder(name), bytes);
    const fill = (["all", "all", "none"] as const)[random.below(3)] ?? "all";
    await use({
      ...{ random, inFolder, model: new DiskModel(Buffer.from(image), random) },
      source: isRemote ? origin.url("/a.vhs").href : inFolder("a.vhs"),
      options: { image: inFolder("disk"), workers: 1, fill },
    });
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
  } finally {
    await origin.close();
    rmSync(folder, { recursive: true });
  }
}

function connect(socket: string): Promise<NbdClient[]> {
  const connections = Array.from({ length: CONNECTIONS }, (_, at) =>
    NbdClient.open(socket, { structured: at > 0 }),
  );
  return Promise.all(connections);
}

/** Reads a whole disk. */
function content([client]: readonly NbdClient[], size: number): Promise<Buffer> {
  return (client as NbdClient).readAt(0, size);
}

const runOpened = (seed: number) =>
  withSetting(seed, async ({ random, model, source, options, inFolder }) => {
    for (let opened = random.below(2); opened >= 0; opened -= 1) {
      await using disk = await openSnapshot(source, options);
      await disk.listen({ path: inFolder("socket") });
      const clients = await connect(inFolder("socket"));
      for (let left = random.below(12); left > 0; left -= 1) await model.change(clients, false);
      expectSame(await content(clients, disk.size), model.image);
      for (const client of clients) await client.close();
      if (opened > 0 || options.fill !== "all") continue;
      await disk.filled;
      await disk.flush();
      expectSame(readFileSync(options.image), model.image);
    }
  });

const runKilled = (seed: number) =>
  withSetting(seed, async ({ random, model, source, options, inFolder }) => {
    const socket = inFolder("socket");
    const processes: DiskProcess[] = [];
    const start = async () => {
      const disk = await DiskProcess.start(source, options, socket);
      processes.push(disk);
      return disk;
    };
    try {
      for (let killed = 2; killed > 0; killed -= 1) {
        const disk = await start();
        const clients = await connect(socket);
        const changing = (async () => {
          for (;;) await model.change(clients, true);
        })();
        await Promise.race([changing, sleep(random.below(150))]);
        await disk.kill();
        await expect(changing).rejects.toThrow("the connection was closed");
        // The next process has the same content as long as it runs, and saves it.
        const next = await start();
        const [client] = await connect(socket);
        model.adopt(await content([client as NbdClient], model.image.length));
        await next.save(inFolder(`${killed}.vhs`));
        await next.close();
        const resolve = (digest: string) => names[digest] ?? inFolder("2.vhs");
        await restoreSnapshot(inFolder(`${killed}.vhs`), inFolder("restored"), {
          resolve,
          workers: 1,
        });
        expectSame(readFileSync(inFolder("restored")), model.image);
      }
    } finally {
      // If the run has failed, they still have its files open.
      for (const one of processes) await one.kill();
    }
  });

/** Runs all seeds, some at a time. */
async function runAll(seeds: readonly number[], run: (seed: number) => Promise<void>) {
  const left = seeds.values();
  const next = async () => {
    for (const seed of left) await run(seed);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, next));
}

test(
  "a disk has what was written to it, whoever wrote it, and however often it is opened",
  // Each run opens disks, and there are thousands of them.
  minutes({ all: 30 }),
  () => runAll(RUNS, runOpened),
);

test(
  "a disk that is killed has what was flushed, and nothing that it never had",
  // Each run starts four processes.
  minutes({ all: 20 }),
  () => runAll(KILLS, runKilled),
);
