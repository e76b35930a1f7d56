// Runs a sandbox: attaches its disk, boots a machine from it, runs commands in it, and saves the disk.
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Machine } from "./machine.mjs";

const { SANDBOX_SAVE_EVERY = "5m" } = process.env;

/**
 * Runs each line of the standard input as a command in the sandbox. The line `.save` saves its disk. At the end of the
 * input, or on SIGINT or SIGTERM, the sandbox is stopped and saved. If it crashes, its last save remains.
 *
 * @param {import("@hedgerow/snapshot").DiskStore} store
 * @param {string} host a folder
 * @param {string} name
 * @param {boolean} steal whether to take it from another host
 */
export async function run(store, host, name, steal) {
  const saveEvery = /** @type {import("@hedgerow/snapshot").Duration} */ (SANDBOX_SAVE_EVERY);
  const disk = await store.attach(name, { steal, saveEvery });
  try {
    const socket = join(host, `${name}.socket`);
    await disk.listen({ path: socket });
    const machine = await Machine.boot(socket, join(host, `${name}.log`));
    disk.lost.addEventListener("abort", () => machine.kill());
    console.error(`${name}: generation ${disk.generation.number} has booted`);
    try {
      for await (const line of linesUntil(machine.exited)) {
        if (line === ".save") await save(disk, machine);
        else await runCommand(machine, line);
      }
      await machine.powerOff();
    } finally {
      await machine.kill();
    }
  } catch (error) {
    // If another host has taken the disk, this throws, and keeps its local image for `recover`.
    await disk.detach({ save: disk.lost.aborted });
    throw error;
  }
  await disk.detach();
  report(name, disk.generation);
}

/** Saves the disk of a running machine. @param {import("@hedgerow/snapshot").AttachedDisk} disk @param {Machine} machine */
async function save(disk, machine) {
  try {
    report(disk.name, await disk.save(hooksOf(machine)));
  } catch (error) {
    if (disk.lost.aborted) throw error;
    // Nothing is lost: the next save has these changes, too.
    console.error(error instanceof Error ? error.message : error);
  }
}

/**
 * Returns hooks that keep the file system of a machine from changing while the changes are copied. A save without hooks
 * has what a power failure would leave.
 *
 * @param {Machine} machine
 */
const hooksOf = (machine) => ({
  freeze: () => machine.run("fsfreeze --freeze /"),
  thaw: () => machine.run("fsfreeze --unfreeze /"),
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
