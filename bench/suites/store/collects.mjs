// Times a collection of a store with many snapshots, in a process of its own.
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { DiskStore } from "../../../js/snapshot/dist/index.js";
import { result } from "../../harness/results.mjs";
import { about } from "./inputs.mjs";

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
export async function measureCollect({ folder, s3 }, plan) {
  writeObjects(join(folder, "objects", "snapshots", "many"), plan);
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
