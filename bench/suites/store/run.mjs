// Measures stores of disks.
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DiskStore } from "../../../js/snapshot/dist/index.js";
import { itself, measureParts, result, resultsOf } from "../../harness/results.mjs";
import { log, takeTurns } from "../../harness/turns.mjs";
import { compressedBlocks } from "../delta/rivals.mjs";
import { about, clone, makeInputs, NAME, SUITE, timeToRead, writeTo } from "./inputs.mjs";
import { makeChunks, makeOverlays } from "./rivals.mjs";
import { measureServices } from "./services.mjs";

/** @import { Measured } from "../../harness/results.mjs" */
/** @import { Inputs } from "./inputs.mjs" */
/** @import { Plan } from "./suite.mjs" */

/** The inputs of all parts. @typedef {{ inputs: Inputs, plan: Plan, qcow2: Awaited<ReturnType<typeof makeOverlays>>, desync: Awaited<ReturnType<typeof makeChunks>> }} Context */

/** @type {Record<string, (context: Context) => Promise<Measured[]>>} */
const PARTS = {
  save: measureSaves,
  attach: measureAttach,
  forks: measureForks,
  collect: ({ inputs, plan }) => measureCollect(inputs, plan),
  services: ({ inputs, plan }) => measureServices(inputs, plan),
};

/** @param {import("./suite.mjs").Parameters} parameters */
export async function measure({ folder, plan }) {
  const inputs = await makeInputs(folder, plan);
  try {
    log("the same disk as qcow2 overlays, and as chunks of desync");
    const [qcow2, desync] = [await makeOverlays(inputs), await makeChunks(inputs)];
    const parts = Object.entries(PARTS).map(([name, part]) => [
      name,
      () => {
        log(name);
        return part({ inputs, plan, qcow2, desync });
      },
    ]);
    return await measureParts(SUITE, Object.fromEntries(parts));
  } finally {
    await inputs.stop();
  }
}

/** Opens a store as a new host. @param {Inputs} inputs @param {object} options */
const openHost = ({ inXfs, s3, slow }, options = {}) =>
  DiskStore.open(s3.url("disks"), { ...slow, images: mkdtempSync(inXfs("host-")), ...options });

/** Times attaching a stopped disk until a byte of it was read, which is verified. @param {Context} context */
async function measureAttach({ inputs, plan, qcow2, desync }) {
  const { inXfs, cache } = inputs;
  const cached = { cache };
  const folderHost = await DiskStore.open(inXfs("store"), {
    images: mkdtempSync(inXfs("host-")),
    cache,
  });
  const host = await openHost(inputs, cached);
  // No other host changes it in between.
  const own = "own";
  await host.fork(NAME, own);
  /** Attaches by a host that has not used the disk before. @param {object} [options] */
  const first = async (options) => {
    const other = await openHost(inputs, options);
    try {
      return await timeToRead(other, NAME);
    } finally {
      await other.close();
    }
  };
  /** @type {[string, boolean, { name: string, time: () => Promise<number> }[]][]} */
  const workloads = [
    ["nothing cached", false, [{ name: "hedgerow", time: () => first() }]],
    [
      "base cached",
      true,
      [
        { name: "hedgerow", time: () => first(cached) },
        { name: "hedgerow, detached here before", time: () => timeToRead(host, own) },
        { name: "hedgerow, a folder", time: () => timeToRead(folderHost, NAME) },
      ],
    ],
  ];
  const results = /** @type {Measured[]} */ ([]);
  for (const [workload, isCached, fast] of workloads) {
    const slow = [
      { name: "qcow2", time: () => qcow2.attach(isCached) },
      { name: "desync", time: () => desync.attach(isCached) },
    ];
    const timed = [
      ...(await takeTurns(fast, plan.fastRounds)),
      ...(await takeTurns(slow, plan.rounds, { warmUps: 0 })),
    ];
    results.push(...resultsOf(about("attach", workload), timed, itself));
  }
  for (const one of [host, folderHost]) await one.close();
  return results;
}

/** Times saves of changed disks, and measures the deltas. @param {Context} context */
async function measureSaves({ inputs, plan, qcow2, desync }) {
  const { inXfs, base, image, cache } = inputs;
  const host = await openHost(inputs, { cache });
  const [name, own] = ["saved", inXfs("saved.img")];
  clone(base, own);
  await inputs.stores.fast.fork(NAME, name, { generation: 1 });
  const disk = await host.attach(name);
  await disk.filled;
  let seed = 0;
  const save = async () => {
    seed += 1;
    await writeTo(disk, inputs, own, seed);
    const { duration, pause, bytes, changedBytes } = await disk.save();
    const range = inputs.changes(seed);
    const { together, byPiece } = await compressedBlocks(own, range, inputs.folder);
    return { duration, pause, bytes, changedBytes, together, byPiece };
  };
  const ours = await takeTurns([{ name: "hedgerow", time: save }], plan.fastRounds);
  await disk.detach({ save: false });
  await inputs.stores.fast.verify(name);
  const theirs = [
    ...(await takeTurns([{ name: "qcow2", time: qcow2.save }], plan.rounds)),
    // The second time, everything would be there.
    ...(await takeTurns([{ name: "desync", time: desync.save }], 1, { warmUps: 0 })),
  ];
  await host.close();
  const WORKLOAD = "1 % changed";
  const size = about("save, size", WORKLOAD, "kB");
  const kilobytes = (/** @type {number} */ bytes) => bytes / 1000;
  // Of the same change.
  const { together, byPiece } = await compressedBlocks(image, inputs.changes(1), inputs.folder);
  return [
    ...resultsOf(about("save", WORKLOAD), ours, ({ duration }) => duration),
    ...resultsOf(about("save", WORKLOAD), theirs, itself),
    ...resultsOf(about("save, pause", WORKLOAD), ours, ({ pause }) => pause),
    ...resultsOf(size, ours, ({ bytes }) => kilobytes(bytes)),
    ...resultsOf(about("save, size by zstd", WORKLOAD, "ratio"), ours, (s) => s.bytes / s.together),
    ...resultsOf(
      about("save, size by zstd of each MiB", WORKLOAD, "ratio"),
      ours,
      (s) => s.bytes / s.byPiece,
    ),
    result(size, "qcow2", [kilobytes(qcow2.savedBytes())]),
    result(size, "desync", [kilobytes(desync.savedBytes())]),
    result(size, "zstd -3 of the changed blocks", [kilobytes(together)]),
    result(size, "zstd -3 of the changed blocks of each MiB", [kilobytes(byPiece)]),
  ];
}

/** Times forking a disk and attaching all forks, until each has answered a read. @param {Context} context */
async function measureForks({ inputs, plan, qcow2 }) {
  const { inXfs, cache } = inputs;
  const images = mkdtempSync(inXfs("host-"));
  const hosts = {
    hedgerow: await DiskStore.open(inXfs("store"), { images, cache }),
    "hedgerow, S3": await openHost(inputs, { cache }),
  };
  const forkAll = async (/** @type {DiskStore} */ host) => {
    const names = Array.from({ length: plan.forks }, (_, number) => `fork-${number}`);
    const begin = performance.now();
    // Its base is cached.
    await host.fork(NAME, names, { generation: 1 });
    const disks = await Promise.all(
      names.map(async (name) => {
        const disk = await host.attach(name);
        await disk.read(1024, 1024);
        return disk;
      }),
    );
    const elapsed = performance.now() - begin;
    await Promise.all(disks.map((disk) => disk.detach({ save: false })));
    for (const name of names) await host.remove(name);
    return elapsed;
  };
  const methods = Object.entries(hosts).map(([name, host]) => ({
    name,
    time: () => forkAll(host),
  }));
  methods.push({ name: "qcow2", time: () => qcow2.fork(plan.forks) });
  const timed = await takeTurns(methods, plan.rounds);
  for (const host of Object.values(hosts)) await host.close();
  return resultsOf(about("forks", "32 forks"), timed, itself, { forks: plan.forks });
}

/** Seconds that are longer than the grace period. */
const OLD = 100_000;

const digestOf = (/** @type {number} */ number) =>
  createHash("sha256").update(`${number}`).digest("hex");

/**
 * Writes the objects of a store as files of its server: disks whose snapshots have a byte each, and snapshots that
 * nothing refers to, half of them marked long ago.
 *
 * @param {string} folder
 * @param {import("./suite.mjs").Plan} plan
 */
function writeObjects(folder, { disks, generations: count, unreferenced }) {
  for (const name of ["disks", "snapshots", "tombstones"])
    mkdirSync(join(folder, name), { recursive: true });
  let number = 0;
  const addSnapshot = () => {
    number += 1;
    const digest = digestOf(number);
    writeFileSync(join(folder, "snapshots", `${digest}.vhs`), "x");
    return digest;
  };
  const json = (/** @type {object} */ value) => `${JSON.stringify(value)}\n`;
  const unique = () => ({ version: 1, revision: randomUUID() });
  for (let disk = 0; disk < disks; disk += 1) {
    const digests = Array.from({ length: count }, addSnapshot);
    const generations = digests.map((digest, at) => {
      const bases = digests.slice(Math.max(0, at - 4), at);
      return { number: at + 1, digest, bases, time: Date.now() };
    });
    const pointer = {
      ...{ kind: "hedgerow disk", ...unique(), id: randomUUID(), epoch: 1, lease: null },
      ...{ size: 4096, next: count + 1, generations },
      objects: Object.fromEntries(digests.map((digest) => [digest, 1])),
    };
    writeFileSync(join(folder, "disks", `disk-${disk}`), json(pointer));
  }
  const old = Date.now() / 1000 - OLD;
  for (let at = 0; at < unreferenced; at += 1) {
    const digest = addSnapshot();
    if (at % 2 === 0) continue;
    const tombstone = join(folder, "tombstones", digest);
    writeFileSync(tombstone, json({ state: "marked", ...unique() }));
    utimesSync(tombstone, old, old);
  }
}

/** @param {import("./inputs.mjs").Inputs} inputs @param {import("./suite.mjs").Plan} plan */
async function measureCollect({ folder, s3 }, plan) {
  writeObjects(join(s3.objects, "many"), plan);
  const store = await DiskStore.open(s3.url("many"), { s3: s3.options });
  await store.close();
  const script = fileURLToPath(new URL("collect.mjs", import.meta.url));
  const { endpoint, region, credentials } = s3.options;
  const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = credentials;
  const env = { ...process.env, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY };
  const place = [s3.url("many"), "--endpoint", endpoint, "--region", region];
  const args = [script, ...place, "--images", join(folder, "images"), "--json"];
  // Meanwhile, this process passes its requests on.
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env });
  const { duration, marked, deleted } = JSON.parse(stdout);
  const { memory, requests } = JSON.parse(stderr.trim().split("\n").at(-1) ?? "");
  if (deleted.length !== plan.unreferenced / 2 || marked !== plan.unreferenced / 2) {
    throw new Error(`${deleted.length} snapshots were deleted and ${marked} marked`);
  }
  const workload = "100,000 snapshots";
  const details = {
    disks: plan.disks,
    generations: plan.generations,
    unreferenced: plan.unreferenced,
  };
  return [
    result(about("collect", workload), "hedgerow", [duration], details),
    result(about("collect, peak memory", workload, "MiB"), "hedgerow", [memory / 2 ** 20]),
    result(about("collect, requests", workload, "requests"), "hedgerow", [requests]),
  ];
}
