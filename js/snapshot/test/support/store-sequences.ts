/** Sequences of random calls of several hosts to a store of disks, in a folder or a service, that die at any moment. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSnapshot, inspectSnapshot, type StoreOptions } from "@hedgerow/snapshot";
import { beforeAll } from "vitest";

import { SERVERS, type ServiceServer } from "../../../../tests/support/services.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { Random } from "../../../edge/test/support/random.js";
import { type FileFault, SimulatedHost } from "./simulated-host.js";
import { type ModelPlace, type Sample, StoreModel, setBackFiles } from "./store-model.js";
import { StoreProcess } from "./store-process.js";
import { ObjectTimes, StoreWire, type WireFault } from "./store-wire.js";

/** How many sequences run at a time. */
const CONCURRENCY = 4;

const PIECE = 4_096;

const path = temporaryFolder();

let samples: readonly Sample[] = [];

beforeAll(async () => {
  const contents = [
    Buffer.concat([noise("first", 5 * PIECE), Buffer.alloc(6 * PIECE), noise("last", 5 * PIECE)]),
    Buffer.concat([Buffer.alloc(2 * PIECE), noise("second", 14 * PIECE)]),
  ];
  samples = await Promise.all(
    contents.map(async (content, at) => {
      const [image, snapshot] = [path(`image-${at}`), path(`${at}.vhs`)];
      writeFileSync(image, content);
      await createSnapshot(image, snapshot, { pieceSize: PIECE, workers: 1 });
      return { path: snapshot, digest: (await inspectSnapshot(snapshot)).digest, content };
    }),
  );
});

/** Returns faults of a file system, with a share of its operations. */
function fileFaults(random: Random, hasFaults: boolean): () => FileFault | undefined {
  return () => {
    if (random.below(12) === 0) return { delay: random.below(4) };
    if (!hasFaults || random.below(60) > 0) return undefined;
    return { error: random.below(2) === 0 ? "before" : "after" };
  };
}

/** Returns faults of a network, with a share of the requests. */
function wireFaults(random: Random, hasFaults: boolean): () => WireFault | undefined {
  return () => {
    if (random.below(12) === 0) return { delay: random.below(10) };
    if (!hasFaults || random.below(15) > 0) return undefined;
    const late = random.below(100);
    const all = [{ status: 500 }, { status: 503 }, { loseRequest: true }, { loseResponse: true }];
    return [...all, { late }][random.below(5)];
  };
}

/** Returns a store in a folder. */
function inFolder(random: Random, hasFaults: boolean, folder: string): ModelPlace {
  const store = `${folder}/store`;
  return {
    ...{ place: store, isFolder: true, hasFaults },
    keys: async () => filesIn(store),
    setBack: (age, which) => {
      for (const name of ["", "tombstones", "snapshots", "disks"])
        setBackFiles(join(store, name), age, (file) =>
          which(file.slice(store.length + 1), readFileSync(file, "utf8")),
        );
    },
    start: async (images, isFaulty) => {
      const faults = isFaulty ? fileFaults(random, hasFaults) : () => undefined;
      const host = new SimulatedHost(store, faults);
      const { mark } = host;
      return { host, images, mark, options: { images }, settled: () => host.settled() };
    },
    settled: async () => {},
  };
}

/** Returns the paths of all files below a folder. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/** Returns a store in a service, behind a network for each host. */
function inService(
  random: Random,
  hasFaults: boolean,
  folder: string,
  server: ServiceServer,
): ModelPlace {
  const wires: StoreWire[] = [];
  const prefix = `sequences/${folder.slice(folder.lastIndexOf("/") + 1)}`;
  const [, bucket = ""] = /:\/\/(.*)/.exec(server.bucket) ?? [];
  const times = new ObjectTimes(bucket);
  return {
    place: `${server.bucket}/${prefix}`,
    ...{ isFolder: false, hasFaults },
    keys: async () => (await server.keys(`${prefix}/`)).map((key) => key.slice(prefix.length + 1)),
    setBack: (age, which) =>
      times.setBack(age, (key, text) => which(key.slice(prefix.length + 1), text)),
    start: async (images, isFaulty) => {
      const faults = isFaulty ? wireFaults(random, hasFaults) : () => undefined;
      const host = new SimulatedHost(folder, () => undefined);
      const wire = await StoreWire.open(server.endpoint, faults, {
        onStep: () => host.count(),
        times,
        host: server.bucket.startsWith("gs:"),
      });
      wires.push(wire);
      host.died.addEventListener("abort", () => wire.cut());
      const access = server.through(wire.endpoint);
      const options: StoreOptions = { images, lease: "1s", retries: 4, ...access };
      const settled = async () => {
        await Promise.all([host.settled(), wire.settled()]);
      };
      return { host, images, mark: host.mark, options, settled };
    },
    settled: async () => {
      for (const wire of wires.splice(0)) await wire[Symbol.asyncDispose]();
    },
  };
}

/** Lets the hosts of a store be processes, except those that recover it. */
function inProcesses(place: ModelPlace): ModelPlace {
  const processes: StoreProcess[] = [];
  return {
    ...place,
    start: async (images, isFaulty) => {
      const base = await place.start(images, false);
      if (!isFaulty) return base;
      const host = new StoreProcess();
      processes.push(host);
      const { options } = base;
      const { s3 } = options;
      const endpoint = s3 && { ...s3, endpoint: String(s3.endpoint) };
      return {
        ...{ host, images, options, mark: host.mark },
        settled: async () => {
          // Its network ends with the process.
          if (host.died.aborted) base.host.kill();
          await base.settled();
        },
        open: () => host.open(place.place, { ...options, s3: endpoint }),
      };
    },
    settled: async () => {
      for (const one of processes.splice(0)) await one.ended();
      await place.settled();
    },
  };
}

/** Where hosts keep disks, and whether they are processes. */
export type Kind = "folder" | keyof typeof SERVERS | "processes";

/** Runs one sequence. */
async function run(seed: number, kind: Kind, server: ServiceServer | undefined): Promise<void> {
  const random = new Random(seed);
  const folder = path(`run-${seed}`);
  mkdirSync(folder);
  const areProcesses = kind === "processes";
  const isService = areProcesses ? random.below(2) === 0 : server !== undefined;
  const hasFaults = !areProcesses && random.below(2) === 0;
  const stored =
    isService && server !== undefined
      ? inService(random, hasFaults, folder, server)
      : inFolder(random, hasFaults, folder);
  const place = areProcesses ? inProcesses(stored) : stored;
  const model = new StoreModel(random, place, samples, (name) => `${folder}/${name}`);
  try {
    await model.run(random.below(4) === 0 ? 3 : 2, 3 + random.below(6));
  } catch (error) {
    const log = model.log.slice(-400).join("\n");
    throw new Error(`seed ${seed}: ${(error as Error).message}\n${log}`, { cause: error });
  } finally {
    await place.settled();
    rmSync(folder, { recursive: true });
  }
}

/** The seed of the only sequence to run, to repeat one that failed: it takes a different course each time. */
const { HEDGEROW_SEQUENCE: ONLY } = process.env;

/**
 * Runs sequences, some at a time. Their seeds are whole numbers from `first` on.
 *
 * @param early seeds among these to begin with
 */
export async function runAll(
  kind: Kind,
  first: number,
  count: number,
  early: readonly number[] = [],
): Promise<void> {
  const name = kind === "processes" ? "versitygw" : kind;
  const server = name === "folder" ? undefined : await SERVERS[name]();
  const all = Array.from({ length: count }, (_, at) => first + at);
  const wanted = ONLY === undefined ? [...early, ...all] : [Number(ONLY)];
  const seeds = [...new Set(wanted)].slice(0, count).values();
  const next = async () => {
    for (const seed of seeds) await run(seed, kind, server);
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, next));
  } finally {
    await server?.close();
  }
}
