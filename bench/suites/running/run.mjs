// Measures sandboxes that resume running, with the machine of the example.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, statSync } from "node:fs";
import { open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { DiskStore, ImageCache } from "../../../js/snapshot/dist/index.js";
import { mountXfs } from "../../../scripts/lib/file-systems.mjs";
import { inRoot } from "../../../scripts/lib/paths.mjs";
import { StepError } from "../../../scripts/lib/run.mjs";
import { itself, measureParts, NODE, result, resultsOf } from "../../harness/results.mjs";
import { startLink, startS3 } from "../../harness/s3.mjs";
import { log, runOnce, takeTurns, timeOf } from "../../harness/turns.mjs";
import { XFS_BYTES } from "./suite.mjs";

process.env.SANDBOX_MACHINE = inRoot("target", "guest");
// A machine with KVM does not boot everywhere that has /dev/kvm.
process.env.SANDBOX_ACCELERATOR ??= "tcg";
const { Machine } = await import("../../../examples/sandbox/src/machine.mjs");
const { mountMemory } = await import("../../../examples/sandbox/src/memory.mjs");

/** @import { Measured } from "../../harness/results.mjs" */
/** @typedef {import("../../../js/snapshot/dist/index.js").AttachedDisk} AttachedDisk */
/** @typedef {import("../../../js/snapshot/dist/index.js").DiskVolume} DiskVolume */
/** @typedef {import("../../../js/snapshot/dist/index.js").FileVolume} FileVolume */
/** @typedef {Awaited<ReturnType<typeof makeInputs>>} Inputs */
/** @typedef {{ inputs: Inputs, plan: import("./suite.mjs").Plan }} Context */

const SUITE = `running-${NODE}`;

/** The sandbox that is resumed. */
const NAME = "alice";

const BIN = inRoot("js", "cli", "bin", "hedgerow.js");

const PAGE = 4096;

/** @param {string} quantity @param {string} workload @param {string} [unit] */
const about = (quantity, workload, unit = "ms") => ({
  suite: `${SUITE}, ${quantity}`,
  ...{ workload, unit },
});

/** @param {import("./suite.mjs").Parameters} parameters */
export async function measure({ folder, plan }) {
  const inputs = await makeInputs(folder, plan);
  const context = { inputs, plan };
  try {
    return await measureParts(SUITE, {
      resume: () => measureResume(context),
      touch: () => measureTouch(context),
      suspend: () => measureSuspend(context),
      checkpoint: () => measureCheckpoint(context),
      forks: () => measureForks(context),
    });
  } finally {
    await inputs.stop();
  }
}

/**
 * Makes a store behind a slow link with a sandbox whose programs use memory, and its trace.
 *
 * @param {string} folder
 * @param {import("./suite.mjs").Plan} plan
 */
async function makeInputs(folder, { memoryBytes, usedMiB }) {
  const xfs = join(folder, "xfs");
  mkdirSync(xfs);
  const refusal = mountXfs(join(folder, "xfs.img"), xfs, XFS_BYTES);
  if (refusal !== undefined) throw new StepError(`XFS cannot be mounted: ${refusal}`);
  const inXfs = (/** @type {string[]} */ ...names) => join(xfs, ...names);
  log("a machine whose programs use memory");
  const image = inXfs("disk.img");
  const layout = `oci:${inRoot("target", "guest", "image")}`;
  runOnce(process.execPath, BIN, "image", "create", layout, image, "--free", "256MiB");
  const s3 = await startS3(folder);
  const link = await startLink(s3.options.endpoint);
  const place = s3.url("sandboxes");
  const fast = { s3: s3.options };
  const slow = { s3: { ...s3.options, endpoint: link.endpoint } };
  const store = await DiskStore.open(place, { ...fast, images: inXfs("images") });
  const volumes = { memory: { size: memoryBytes }, state: {} };
  await store.create(NAME, { image, volumes });
  const inputs = {
    ...{ inXfs, place, fast, slow, s3, store },
    async stop() {
      await store.close();
      link.stop();
      await s3.stop();
    },
  };
  await running(inputs, store, NAME, { boots: true, saves: true }, async ({ machine }) => {
    const { code } = await machine.run(
      `dd if=/dev/urandom of=/tmp/used bs=1M count=${usedMiB} 2>/dev/null`,
    );
    if (code !== 0) throw new Error("the machine has no room for its programs");
  });
  // The trace of a resumption is stored with the next save.
  await running(inputs, store, NAME, { saves: true }, async ({ machine }) => {
    await machine.run("true");
  });
  return inputs;
}

/**
 * A running machine: the file of its memory, and how long it took until it answered, in milliseconds.
 *
 * @typedef {{ machine: InstanceType<typeof Machine>, memory: Awaited<ReturnType<typeof mountMemory>>, path: string, disk: AttachedDisk, elapsed: number }} Running
 */

/**
 * How a machine is run: whether it boots, or waits until all of its volumes are there; whether it is saved when it is
 * suspended; and options of the attachment.
 *
 * @typedef {{ boots?: boolean, waits?: boolean, saves?: boolean, attach?: object }} How
 */

/**
 * Attaches a sandbox, runs its machine, and calls `use` when it has answered. Then suspends it, or throws away what
 * changed. Returns what `use` returns.
 *
 * @template T
 * @param {Pick<Inputs, "inXfs">} inputs
 * @param {DiskStore} store
 * @param {string} name
 * @param {How} how
 * @param {(running: Running) => Promise<T>} use
 */
async function running({ inXfs }, store, name, { boots, waits, saves, attach }, use) {
  const begin = performance.now();
  const disk = await store.attach(name, attach);
  const folder = mkdtempSync(inXfs("run-"));
  const volume = /** @type {DiskVolume} */ (disk.volume("memory"));
  const { path: state } = /** @type {FileVolume} */ (disk.volume("state"));
  const nbd = join(folder, "nbd");
  await disk.listen({ path: nbd });
  if (boots) await volume.discard(0, volume.size);
  if (waits) await Promise.all([disk.filled, volume.filled]);
  const memory = await mountMemory(volume, join(folder, "memory"));
  const places = {
    ...{ nbd, memory: join(folder, "memory"), size: volume.size, state },
    ...{ log: join(folder, "log"), accelerator: process.env.SANDBOX_ACCELERATOR ?? "" },
  };
  try {
    const machine = boots ? await Machine.boot(places) : await Machine.resume(places);
    await machine.run("true");
    const elapsed = performance.now() - begin;
    try {
      const result = await use({ machine, memory, path: places.memory, disk, elapsed });
      if (saves) await machine.pause();
      return result;
    } finally {
      await machine.kill();
    }
  } finally {
    await memory.unmount();
    await disk.detach(saves ? {} : { save: false });
    await rm(folder, { recursive: true });
  }
}

/**
 * Opens a store as a host that has used nothing of it, unless it has a cache.
 *
 * @template T
 * @param {Inputs} inputs
 * @param {object} options
 * @param {(store: DiskStore) => Promise<T>} use
 */
async function asHost({ inXfs, place, slow }, options, use) {
  const images = mkdtempSync(inXfs("host-"));
  const store = await DiskStore.open(place, { ...slow, images, ...options });
  try {
    return await use(store);
  } finally {
    await store.close();
    await rm(images, { recursive: true });
  }
}

/** Times resuming a machine until it has answered. @param {Context} context */
async function measureResume({ inputs, plan }) {
  const first = (/** @type {How} */ how, options = {}) =>
    asHost(inputs, options, (store) =>
      running(inputs, store, NAME, how, async ({ elapsed }) => elapsed),
    );
  const local = await localCopy(inputs);
  const cache = await pulled(inputs);
  const kept = await keptHost(inputs);
  const methods = [
    { name: "hedgerow", time: () => first({}) },
    { name: "hedgerow, no trace", time: () => first({ attach: { trace: false } }) },
    { name: "hedgerow, pulled", time: () => first({}, { cache }) },
    { name: "hedgerow, same host", time: kept.time },
    { name: "full restore", time: () => first({ waits: true }) },
    { name: "boot", time: () => first({ boots: true }) },
    { name: "local file", time: local.time },
  ];
  const timed = await takeTurns(methods, plan.rounds);
  await kept.stop();
  await cache.close();
  await local.stop();
  return resultsOf(about("resume", "nothing cached"), timed, itself);
}

/**
 * Returns a method that resumes on the host that suspended the machine the time before, and then pulled what it saved.
 *
 * @param {Inputs} inputs
 */
async function keptHost(inputs) {
  const name = "same-host";
  await inputs.store.fork(NAME, name);
  const cache = await pulled(inputs);
  const images = mkdtempSync(inputs.inXfs("same-"));
  const store = await DiskStore.open(inputs.place, { ...inputs.slow, images, cache });
  return {
    time: async () => {
      const elapsed = await running(
        inputs,
        store,
        name,
        { saves: true },
        async (one) => one.elapsed,
      );
      await pull(cache, inputs, name);
      return elapsed;
    },
    stop: async () => {
      await store.close();
      await cache.close();
      await inputs.store.remove(name);
    },
  };
}

/** Returns a cache with the images of the sandbox, which its forks share. @param {Inputs} inputs */
async function pulled(inputs) {
  const cache = await ImageCache.open(mkdtempSync(inputs.inXfs("cache-")), { maxBytes: 2 ** 40 });
  await pull(cache, inputs, NAME);
  return cache;
}

/**
 * Fetches the images of the last generation of a sandbox into a cache.
 *
 * @param {ImageCache} cache
 * @param {Inputs} inputs
 * @param {string} name
 */
async function pull(cache, { store, fast }, name) {
  const { last } = await store.stat(name);
  for (const { source, digest } of [last, ...Object.values(last.volumes)])
    await (await cache.get(source, { digest, ...fast })).release();
}

/**
 * Returns a method that resumes from local files: the memory is a file, and the disk a local image behind NBD.
 *
 * @param {Inputs} inputs
 */
async function localCopy({ inXfs, fast, place }) {
  const store = await DiskStore.open(place, { ...fast, images: mkdtempSync(inXfs("local-")) });
  const kept = "kept";
  await store.fork(NAME, kept);
  const disk = await store.attach(kept);
  const volume = /** @type {DiskVolume} */ (disk.volume("memory"));
  await Promise.all([disk.filled, volume.filled]);
  const { path: state } = /** @type {FileVolume} */ (disk.volume("state"));
  const [nbd, memory] = [inXfs("local.nbd"), inXfs("local.memory")];
  await disk.listen({ path: nbd });
  const places = {
    ...{ nbd, memory, size: volume.size, state, log: inXfs("local.log") },
    accelerator: process.env.SANDBOX_ACCELERATOR ?? "",
  };
  const copy = async () => {
    const file = await open(memory, "w");
    await file.truncate(volume.size);
    await file.close();
    for (let at = 0; at < volume.size; at += 2 ** 24) {
      const bytes = Buffer.from(await volume.read(at, Math.min(2 ** 24, volume.size - at)));
      if (bytes.some((byte) => byte !== 0)) await writeAt(memory, bytes, at);
    }
  };
  const pristine = inXfs("local.pristine");
  await copy();
  runOnce("cp", "--reflink=always", memory, pristine);
  /**
   * @template T
   * @param {(machine: InstanceType<typeof Machine>, elapsed: number) => Promise<T>} use
   */
  const resumed = async (use) => {
    runOnce("cp", "--reflink=always", pristine, memory);
    const begin = performance.now();
    const machine = await Machine.resume(places);
    try {
      await machine.run("true");
      return await use(machine, performance.now() - begin);
    } finally {
      await machine.kill();
    }
  };
  return {
    use: resumed,
    time: () => resumed(async (_, elapsed) => elapsed),
    stop: async () => {
      await disk.detach({ save: false });
      await store.remove(kept);
      await store.close();
    },
  };
}

/** Times a program of the guest that reads all the memory that it has, when everything has arrived. @param {Context} context */
async function measureTouch({ inputs, plan }) {
  const touch = (/** @type {InstanceType<typeof Machine>} */ machine) =>
    timeOf(() => machine.run("dd if=/tmp/used of=/dev/null bs=1M 2>/dev/null"));
  const local = await localCopy(inputs);
  const methods = [
    {
      name: "hedgerow",
      time: () =>
        running(inputs, inputs.store, NAME, { waits: true }, ({ machine }) => touch(machine)),
    },
    { name: "local file", time: () => local.use(touch) },
  ];
  const timed = await takeTurns(methods, plan.rounds, { warmUps: 0 });
  await local.stop();
  return resultsOf(about("touch", "all used memory"), timed, itself);
}

/** Times until a machine is stopped, and its state safe on the host. @param {Context} context */
async function measureSuspend({ inputs, plan }) {
  const stopped = (/** @type {Running} */ { machine, memory }) =>
    timeOf(async () => {
      await machine.sync();
      await machine.pause();
      await memory.flush();
    });
  const methods = [
    {
      name: "hedgerow",
      time: () => running(inputs, inputs.store, NAME, { waits: true }, stopped),
    },
    {
      name: "all memory copied",
      time: () =>
        running(inputs, inputs.store, NAME, { waits: true }, async (one) => {
          const copy = inputs.inXfs("all.memory");
          const own = await stopped(one);
          // This process serves the file.
          const copied = await timeOf(() => promisify(execFile)("cp", [one.path, copy]));
          await rm(copy);
          return own + copied;
        }),
    },
  ];
  const timed = await takeTurns(methods, plan.rounds, { warmUps: 0 });
  return resultsOf(about("suspend", "in use, filled"), timed, itself);
}

/** Times the pause of a checkpoint, and counts what it uploads. @param {Context} context */
async function measureCheckpoint({ inputs, plan }) {
  const name = "checkpointed";
  await inputs.store.fork(NAME, name);
  const { pauses, sizes, pages } = await running(
    inputs,
    inputs.store,
    name,
    { waits: true },
    async ({ machine, memory, disk }) => {
      const volume = /** @type {DiskVolume} */ (disk.volume("memory"));
      let frozen = 0;
      let pause = 0;
      const freeze = async () => {
        frozen = performance.now();
        await machine.pause();
        await memory.flush();
      };
      const thaw = async () => {
        await machine.continue();
        pause = performance.now() - frozen;
      };
      const change = `dd if=/dev/urandom of=/tmp/used bs=1M count=${plan.changedMiB} conv=notrunc`;
      const [pauses, sizes, pages] = [[], [], []].map(() => /** @type {number[]} */ ([]));
      let before = await contentOf(volume);
      for (let round = 0; round <= plan.rounds; round += 1) {
        await machine.run(`${change} 2>/dev/null`);
        await machine.sync();
        await memory.flush();
        const sent = inputs.s3.bytes();
        await disk.save({ freeze, thaw });
        const after = await contentOf(volume);
        const compressed = await compressedPages(inputs, before, after);
        before = after;
        if (round === 0) continue;
        pauses?.push(pause);
        sizes?.push((inputs.s3.bytes() - sent) / 1000);
        pages?.push(compressed / 1000);
      }
      return { pauses: pauses ?? [], sizes: sizes ?? [], pages: pages ?? [] };
    },
  );
  await inputs.store.remove(name);
  const bytes = about("checkpoint, bytes", `${plan.changedMiB} MiB changed`, "kB");
  return [
    result(about("checkpoint, pause", `${plan.changedMiB} MiB changed`), "hedgerow", pauses),
    result(bytes, "hedgerow", sizes),
    result(bytes, "zstd -3 of the changed pages", pages),
  ];
}

/** Returns all bytes of a volume. @param {DiskVolume} volume */
async function contentOf(volume) {
  const content = Buffer.alloc(volume.size);
  const step = 2 ** 24;
  for (let at = 0; at < content.length; at += step)
    content.set(await volume.read(at, Math.min(step, content.length - at)), at);
  return content;
}

/** Returns the compressed size of the pages that differ. @param {Inputs} inputs @param {Buffer} before @param {Buffer} after */
async function compressedPages({ inXfs }, before, after) {
  const changed = [];
  for (let at = 0; at < after.length; at += PAGE)
    if (after.compare(before, at, at + PAGE, at, at + PAGE) !== 0)
      changed.push(after.subarray(at, at + PAGE));
  const file = inXfs("pages");
  await writeFile(file, Buffer.concat(changed));
  runOnce("zstd", "-3", "-q", "-f", file, "-o", `${file}.zst`);
  return statSync(`${file}.zst`).size;
}

/** Times until all forks of a running sandbox have answered, on a host that has pulled it. @param {Context} context */
async function measureForks({ inputs, plan }) {
  const cache = await pulled(inputs);
  let generation = 0;
  const answer = (/** @type {number} */ count, /** @type {How} */ how) =>
    asHost(inputs, { cache }, async (store) => {
      generation += 1;
      const names = Array.from({ length: count }, (_, at) => `fork-${generation}-${at}`);
      await inputs.store.fork(NAME, names);
      const waiting = new Set(names);
      let release = () => {};
      const all = new Promise((resolve) => {
        release = () => resolve(undefined);
      });
      const elapsed = await Promise.all(
        names.map((name) =>
          running(inputs, store, name, how, async (one) => {
            waiting.delete(name);
            // The others run until the last one has answered.
            if (waiting.size === 0) release();
            await all;
            return one.elapsed;
          }),
        ),
      );
      for (const name of names) await inputs.store.remove(name);
      return Math.max(...elapsed);
    });
  const methods = [
    { name: "hedgerow", time: () => answer(plan.forks, {}) },
    { name: "one fork", time: () => answer(1, {}) },
    { name: "boots", time: () => answer(plan.forks, { boots: true }) },
  ];
  const timed = await takeTurns(methods, plan.forkRounds, { warmUps: 0 });
  await cache.close();
  return resultsOf(about("forks", `${plan.forks} at once`), timed, itself);
}

/** @param {string} path @param {Uint8Array} bytes @param {number} position */
async function writeAt(path, bytes, position) {
  const file = await open(path, "r+");
  await file.write(bytes, 0, bytes.length, position);
  await file.close();
}
