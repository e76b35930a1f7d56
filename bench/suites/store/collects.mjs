// Times a collection of a store with many snapshots, in a process of its own.
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { result } from "../../harness/results.mjs";
import { about } from "./results.mjs";

/** The default of Node 22: since Node 24, V8 keeps more garbage. */
const YOUNG_GENERATION = "--max-semi-space-size=16";

/** Seconds that are longer than the grace period. */
const OLD = 100_000;

const digestOf = (/** @type {number} */ number) =>
  createHash("sha256").update(`${number}`).digest("hex");

/**
 * Writes the objects of a store as files of its server: disks whose snapshots have a byte each, and snapshots that
 * nothing refers to, half of them marked long ago.
 *
 * @param {string} folder
 * @param {import("./plan.mjs").Plan} plan
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

/** @param {import("./inputs.mjs").Inputs} inputs @param {import("./plan.mjs").Plan} plan */
export async function measureCollect({ folder, s3 }, plan) {
  writeObjects(join(folder, "objects", "snapshots", "many"), plan);
  const script = fileURLToPath(new URL("collect.mjs", import.meta.url));
  const args = [script, s3.url("many"), JSON.stringify(s3.options)];
  const run = async (/** @type {string[]} */ args) => {
    // Meanwhile, this process passes its requests on.
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return JSON.parse(stdout);
  };
  const small = await run([YOUNG_GENERATION, ...args, "--dry-run"]);
  const { duration, memory, requests, deleted, marked } = await run(args);
  if (deleted !== plan.unreferenced / 2 || marked !== plan.unreferenced / 2) {
    throw new Error(`${deleted} snapshots were deleted and ${marked} marked`);
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
    result(about("collect, peak memory, as Node 22", workload, "MiB"), "hedgerow", [
      small.memory / 2 ** 20,
    ]),
    result(about("collect, requests", workload, "requests"), "hedgerow", [requests]),
  ];
}
