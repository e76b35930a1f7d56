// Reads random blocks of a filled disk in a guest, in each way that a monitor opens it.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { Guest } from "../../../tests/support/guest/guest.mjs";
import { resultsOf } from "../../harness/results.mjs";
import { takeTurns } from "../../harness/turns.mjs";
import { copyFile } from "../delta/inputs.mjs";
import { fileDrive, nbdDrive } from "./boot.mjs";
import { about, inNewFolder, withDisk } from "./disks.mjs";
import { startNbdfuse, startVhostUser, startVhostUserFile } from "./nbd-servers.mjs";

const DEPTHS = [1, 32];

/** @import { Disk } from "../../../tests/support/guest/guest.mjs" */
/** @param {import("./first-byte.mjs").Context} context */
export function measureGuestReads({ inputs, disk: parent, plan }) {
  return inNewFolder(parent, (folder) =>
    withDisk(folder, inputs.snapshot, { trace: false }, async (opened) => {
      const at = (/** @type {string[]} */ ...names) => join(folder, ...names);
      await opened.filled;
      await opened.listen({ path: at("nbd") });
      mkdirSync(at("mount"));
      // A guest writes to it.
      copyFile(inputs.image, at("copy"), "--sparse=always");
      const engines = [];
      /** @type {Record<string, Disk>} */
      const disks = {
        hedgerow: nbdDrive(at("nbd")),
        "hedgerow, vhost-user-blk": { vhostUser: at("vhost") },
        "hedgerow, FUSE": fileDrive(at("mount", "file")),
        "local file, vhost-user-blk": { vhostUser: at("local") },
      };
      try {
        engines.push(await startVhostUser(at("nbd"), at("vhost")));
        engines.push(await startNbdfuse(at("nbd"), at("mount", "file")));
        engines.push(await startVhostUserFile(at("copy"), at("local")));
        const methods = Object.entries(disks).map(([name, disk]) => ({
          name,
          time: () => readsIn(disk, plan.fioSeconds),
        }));
        const timed = await takeTurns(methods, plan.rounds, { warmUps: 0 });
        return DEPTHS.flatMap((depth) =>
          resultsOf(about("guest reads", `depth ${depth}`, "reads/s"), timed, (reads) => {
            return reads[depth] ?? 0;
          }),
        );
      } finally {
        for (const engine of engines) await engine.stop();
      }
    }),
  );
}

/** Returns how many blocks a guest reads in a second, by depth. @param {Disk} disk @param {number} seconds */
async function readsIn(disk, seconds) {
  const guest = await Guest.start(disk, 120_000);
  try {
    await guest.run("busybox mount -t devtmpfs dev /dev");
    /** @type {Record<number, number>} */
    const found = {};
    for (const depth of DEPTHS) {
      const printed = await guest.run(`/reads /dev/vda ${depth} ${seconds}`);
      found[depth] = Number(/\nreads (\d+)/.exec(printed)?.[1]);
    }
    return found;
  } finally {
    await guest.kill();
  }
}
