// Runs a sandbox: attaches its volumes, continues its machine or boots it, runs commands in it, and saves it.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";

import { Machine, requirements } from "./machine.mjs";
import { mountMemory } from "./memory.mjs";

/** How often a sandbox is saved while it runs, in seconds. */
const { SANDBOX_SAVE_EVERY = "300" } = process.env;

/**
 * @typedef {import("@hedgerow/snapshot").AttachedDisk} AttachedDisk
 * @typedef {import("@hedgerow/snapshot").DiskVolume} DiskVolume
 * @typedef {import("@hedgerow/snapshot").FileVolume} FileVolume
 * @typedef {Awaited<ReturnType<typeof mountMemory>>} Memory
 */

/**
 * Runs each line of the standard input as a command in the sandbox. The line `.save` saves it. At the end of the input, or
 * on SIGINT or SIGTERM, the machine is suspended and saved. If it crashes, its last save remains.
 *
 * @param {import("@hedgerow/snapshot").DiskStore} store
 * @param {string} host a folder
 * @param {string} name
 * @param {{ steal: boolean, powerOff: boolean }} options whether to take it from another host, and whether to turn the
 *   machine off at the end
 */
export async function run(store, host, name, { steal, powerOff }) {
  const [disk, needs] = await Promise.all([store.attach(name, { steal }), requirements()]);
  let metadata;
  try {
    const places = placesOf(disk, host);
    await disk.listen({ path: places.nbd });
    const { machine, memory } = await start(disk, needs, places);
    try {
      disk.lost.addEventListener("abort", () => machine.kill());
      memory.ended.then(() => machine.kill());
      // On a slow host, much of the memory may be left to write back.
      const moment = { ...hooksOf(machine, memory), hookTimeout: 60_000, metadata: needs };
      /** The save that is under way. @type {Promise<void> | undefined} */
      let saving;
      const timer = setInterval(() => {
        saving ??= save(disk, machine, memory, moment).finally(() => {
          saving = undefined;
        });
      }, Number(SANDBOX_SAVE_EVERY) * 1_000);
      try {
        for await (const line of linesUntil(machine.exited)) {
          if (line === ".save") await save(disk, machine, memory, moment);
          else await runCommand(machine, line);
        }
      } finally {
        clearInterval(timer);
        await saving;
      }
      if (powerOff) {
        await machine.powerOff();
      } else {
        await machine.sync();
        await machine.pause();
        metadata = needs;
      }
    } finally {
      await machine.kill();
      await memory.unmount();
    }
  } catch (error) {
    // If another host has taken the disk, this throws, and keeps its local image for `recover`.
    await disk.detach({ save: disk.lost.aborted });
    throw error;
  }
  try {
    await disk.detach({ metadata });
  } catch (error) {
    if (disk.lost.aborted || !(error instanceof Error)) throw error;
    const hint = `its last generation continues with --steal, and recover ${name} NEW-NAME keeps the files of this one`;
    throw new Error(`${error.message}; ${hint}`);
  }
  report(name, disk.generation);
}

/** @param {AttachedDisk} disk @param {string} host */
function placesOf(disk, host) {
  const file = (/** @type {string} */ suffix) => join(host, `${disk.name}.${suffix}`);
  const { path: state } = /** @type {FileVolume} */ (disk.volume("state"));
  return { nbd: file("socket"), memory: file("memory"), log: file("log"), state };
}

/**
 * Continues the machine of the last generation, or boots from its disk if this host cannot.
 *
 * @param {AttachedDisk} disk
 * @param {Awaited<ReturnType<typeof requirements>>} needs
 * @param {Omit<import("./machine.mjs").Places, "size" | "accelerator">} places
 */
async function start(disk, needs, places) {
  const { name, generation } = disk;
  const { number, metadata } = generation;
  const volume = /** @type {DiskVolume} */ (disk.volume("memory"));
  const all = { ...places, size: volume.size, accelerator: needs.accelerator };
  if (isDeepStrictEqual(metadata, needs)) {
    const memory = await mountMemory(volume, places.memory);
    try {
      const machine = await Machine.resume(all);
      console.error(`${name}: generation ${number} continues`);
      return { machine, memory };
    } catch (error) {
      await memory.unmount();
      console.error(error instanceof Error ? error.message : error);
    }
  } else if (metadata) {
    const [there, here] = [metadata, needs].map((one) => JSON.stringify(one));
    console.error(`${name}: its machine needs ${there}, and this host has ${here}`);
  }
  // What an earlier machine had is not fetched.
  await volume.discard(0, volume.size);
  const memory = await mountMemory(volume, places.memory);
  try {
    const machine = await Machine.boot(all);
    console.error(`${name}: generation ${number} has booted`);
    return { machine, memory };
  } catch (error) {
    await memory.unmount();
    throw error;
  }
}

/**
 * Saves a running sandbox. If that fails, the next save has these changes, too.
 *
 * @param {AttachedDisk} disk
 * @param {Machine} machine
 * @param {Memory} memory
 * @param {import("@hedgerow/snapshot").SaveDiskOptions} moment
 */
async function save(disk, machine, memory, moment) {
  try {
    // Little is left to write back while the machine waits.
    await machine.sync();
    await memory.flush();
    report(disk.name, await disk.save(moment));
  } catch (error) {
    if (disk.lost.aborted) return;
    console.error(error instanceof Error ? error.message : error);
  }
}

/** Returns hooks between which all volumes are of one moment. @param {Machine} machine @param {Memory} memory */
const hooksOf = (machine, memory) => ({
  freeze: async () => {
    await machine.pause();
    await memory.flush();
  },
  thaw: () => machine.continue(),
});

/** @param {Machine} machine @param {string} line */
async function runCommand(machine, line) {
  const { output, code } = await machine.run(line);
  process.stdout.write(output);
  if (code !== 0) console.error(`exit code ${code}`);
}

/** Yields lines of the standard input, until it ends or a machine does. @param {Promise<unknown>} exited */
function linesUntil(exited) {
  const lines = createInterface({ input: process.stdin });
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => lines.close());
  exited.then(() => lines.close());
  return lines;
}

/** @param {string} name @param {import("@hedgerow/snapshot").Generation} generation */
function report(name, { number, bytes }) {
  console.error(`${name}: saved as generation ${number}, ${Math.ceil(bytes / 1000)} kB`);
}
