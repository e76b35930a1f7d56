// Boots a guest from a disk and runs its workload.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Guest } from "../../../tests/support/guest/guest.mjs";
import { inNewFolder, withDisk } from "./disks.mjs";
import { startLogging, uriOf } from "./nbd-servers.mjs";

/** Milliseconds that a start or a workload may take. */
const TIMEOUT = 120_000;

/** The output of a workload, between what the console echoes. */
const OUTPUT = /\n([0-9a-f]{64} .*?)\n\/ # /s;

/** A read of a boot. @typedef {readonly [offset: number, length: number]} Read */

/** Returns the drive of a guest. @param {string} socket */
export const nbdDrive = (socket) =>
  `format=raw,file.driver=nbd,file.server.type=unix,file.server.path=${socket}`;

/** Returns the drive of a guest. @param {string} image @param {"qcow2" | "raw"} [format] */
export const fileDrive = (image, format = "raw") => `format=${format},file=${image}`;

/**
 * Boots a guest and runs a workload. Calls back when the shell is ready, and when the workload is done. Returns what it
 * printed.
 *
 * @param {import("../../../tests/support/guest/guest.mjs").Disk} disk
 * @param {string} workload
 * @param {{ onShell?: () => void, onDone?: () => unknown }} [on]
 */
export async function boot(disk, workload, { onShell, onDone } = {}) {
  const guest = await Guest.start(disk, TIMEOUT);
  try {
    onShell?.();
    const printed = await guest.run(workload);
    await onDone?.();
    return OUTPUT.exec(printed.replaceAll("\r", ""))?.[1] ?? printed;
  } finally {
    await guest.kill();
  }
}

/**
 * Boots from a snapshot. Returns what it printed, the trace, and the reads in their order.
 *
 * @param {string} parent
 * @param {string} snapshot
 * @param {string} workload
 */
export function recordBoot(parent, snapshot, workload) {
  return inNewFolder(parent, (folder) =>
    withDisk(folder, snapshot, { fill: "none", trace: false }, async (disk) => {
      const [socket, logged, log] = ["socket", "logged", "log"].map((name) => join(folder, name));
      await disk.listen({ path: socket });
      const server = await startLogging(uriOf(socket ?? ""), logged ?? "", log ?? "");
      try {
        const printed = await boot(nbdDrive(logged ?? ""), workload);
        return { printed, trace: disk.trace, reads: readsIn(readFileSync(log ?? "", "utf8")) };
      } finally {
        await server.stop();
      }
    }),
  );
}

/** Returns the reads in a log of nbdkit. @param {string} log @returns {Read[]} */
function readsIn(log) {
  const lines = log.matchAll(/ Read id=\d+ offset=(\w+) count=(\w+)/g);
  return [...lines].map(([, offset, count]) => [Number(offset), Number(count)]);
}
