// Keeps the disk of a sandbox in a store: saves it on one host, attaches it on another one, and forks it.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DiskStore } from "@hedgerow/snapshot";
import { printTable, timed } from "../lib/measured.mjs";
import { StepError, step } from "../lib/run.mjs";

/** The number of bytes that the sandbox writes, and of forks. */
const [WRITTEN, FORKS] = [2 ** 20, 100];

/** @typedef {import("@hedgerow/snapshot").AttachedDisk} AttachedDisk */

/**
 * @param {string} folder
 * @param {{ snapshot: string, digest: string }} base
 */
export async function demonstrateStore(folder, { snapshot, digest }) {
  step(`disks: saving a disk on one host, and attaching it and ${FORKS} forks on another one`);
  const [one, other] = [await openStore(folder, "one"), await openStore(folder, "other")];
  const data = randomBytes(WRITTEN);
  const creating = await timed(() => one.create("sandbox", { from: snapshot, digest }));
  const first = await attached(one, "sandbox");
  await first.disk.write(0, data);
  const saving = await timed(() => first.disk.detach());
  const forks = Array.from({ length: FORKS }, (_, number) => `fork-${number}`);
  const forking = await timed(() => other.fork("sandbox", forks));

  const resumed = await attached(other, "sandbox");
  const isKept = data.equals(await resumed.disk.read(0, WRITTEN));
  await resumed.disk.write(0, randomBytes(WRITTEN));
  await resumed.disk.detach();
  const fork = await attached(other, "fork-0");
  const isApart = data.equals(await fork.disk.read(0, WRITTEN));
  await fork.disk.detach();
  printTable([
    ["create a disk from the snapshot, ms", creating],
    ["attach it, ms", first.took],
    ["write 1 MiB and detach it, which saves it, ms", saving],
    ["  saved, bytes", resumed.bytes],
    ["attach it on another host, ms", resumed.took],
    [`fork it ${FORKS} times, ms`, forking],
    ["attach a fork, ms", fork.took],
    ["disks that differ from what was saved", [isKept, isApart].filter((same) => !same).length],
  ]);
  for (const store of [one, other]) await store.close();
  if (!isKept || !isApart) throw new StepError("a disk differs from what was saved");
}

/** Opens the store on a host. @param {string} folder @param {string} host */
const openStore = (folder, host) =>
  DiskStore.open(join(folder, "store"), { images: join(folder, host) });

/** Attaches a disk, and measures that. @param {DiskStore} store @param {string} name */
async function attached(store, name) {
  const start = performance.now();
  const disk = await store.attach(name);
  const took = Math.round(performance.now() - start);
  return { disk, took, bytes: disk.generation.bytes };
}
