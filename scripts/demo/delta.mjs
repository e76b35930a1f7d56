// Changes a sandbox's disk, saves it as a full snapshot and as a delta, and restores both from a server.
import { randomFillSync } from "node:crypto";
import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createSnapshot, restoreSnapshot } from "@hedgerow/snapshot";

import { startServer } from "../../bench/harness/server.mjs";
import { megabytes, printTable, timed } from "../lib/measured.mjs";
import { attempt, StepError, step } from "../lib/run.mjs";

/** The number of writes, each of this number of bytes, that are spread over the disk. */
const [WRITES, WRITE_BYTES] = [250, 2 ** 14];

/**
 * @param {string} folder
 * @param {{ snapshot: string, digest: string }} base
 * @param {import("@hedgerow/snapshot").ImageCache} cache which has the image of the base
 * @param {Parameters<typeof startServer>[0]} network
 */
export async function demonstrateDelta(folder, { snapshot, digest }, cache, network) {
  const [disk, full, delta] = [
    join(folder, "sandbox.ext4"),
    join(folder, "sandbox-full.vhs"),
    join(folder, "sandbox.vhs"),
  ];
  step(`snapshots: changing ${WRITES} places of a disk, and saving it whole and as a delta`);
  await restoreSnapshot(snapshot, disk, { digest, cache });
  writeAround(disk);
  const creating = await timed(() => createSnapshot(disk, full));
  const saving = await timed(() => createSnapshot(disk, delta, { base: snapshot, cache }));

  step("snapshots: restoring both from the server");
  const server = await startServer(network, { files: [full, delta] });
  try {
    const copies = [full, delta].map((file) => `${file}.ext4`);
    const restored = async (/** @type {string} */ file, options = {}) => {
      const { bytes } = await server.stats();
      const took = await timed(() => restoreSnapshot(server.url(file), `${file}.ext4`, options));
      return { took, bytes: (await server.stats()).bytes - bytes };
    };
    const whole = await restored(full);
    const changed = await restored(delta, { cache });
    const differing = copies.filter((copy) => attempt("cmp", [disk, copy]).status !== 0).length;
    printTable([
      ["snapshot of the changed disk, MB", megabytes(statSync(full).size)],
      ["  delta", megabytes(statSync(delta).size)],
      ["create the snapshot, ms", creating],
      ["  delta, with the base in the cache", saving],
      ["restore the snapshot from the server, ms", whole.took],
      ["  delta, with the base in the cache", changed.took],
      ["fetched for the snapshot, MB", megabytes(whole.bytes)],
      ["  for the delta", megabytes(changed.bytes)],
      ["restored images that differ", differing],
    ]);
    if (differing > 0) throw new StepError("a restored image differs from the changed disk");
  } finally {
    await server.stop();
  }
}

/** Writes random bytes at even distances. @param {string} disk */
function writeAround(disk) {
  const bytes = Buffer.alloc(WRITE_BYTES);
  const distance = statSync(disk).size / WRITES;
  const file = openSync(disk, "r+");
  for (let number = 0; number < WRITES; number += 1)
    writeSync(file, randomFillSync(bytes), 0, bytes.length, Math.floor(number * distance));
  closeSync(file);
}
