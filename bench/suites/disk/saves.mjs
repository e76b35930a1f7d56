// Times saving what was written to a disk.
import { rmSync } from "node:fs";
import { join } from "node:path";

import { createSnapshot, restoreSnapshot } from "../../../js/snapshot/dist/index.js";
import { itself, resultsOf } from "../../harness/results.mjs";
import { takeTurns, timeOf } from "../../harness/turns.mjs";
import { compareFiles, inNewFolder, readPart, withDisk } from "./disks.mjs";
import { changesOf } from "./inputs.mjs";
import { MAIN } from "./plan.mjs";
import { about } from "./results.mjs";

/** @import { Context } from "./first-byte.mjs" */

/** @param {Context} context */
export function measureSaves({ inputs, plan }) {
  const { folder, image: original, snapshot, blocks } = inputs;
  return inNewFolder(folder, (own) =>
    withDisk(own, snapshot, { trace: false }, async (disk) => {
      await disk.filled;
      const image = join(own, "image");
      const [whole, restored] = [join(own, "whole.vhs"), join(own, "restored")];
      let round = 0;
      const write = async () => {
        round += 1;
        for (const { start, end } of changesOf(inputs, plan.writtenBytes, round)) {
          // The content of another part of the image.
          const from = blocks[(round * 997 * (end - start)) % (blocks.length >> 1)] ?? 0;
          await disk.write(start, readPart(original, from, end - start));
        }
        await disk.flush();
      };
      const save = async () => {
        await write();
        // Each delta is the base of the next one.
        const delta = join(own, `${round}.vhs`);
        const elapsed = await timeOf(() => disk.save(delta));
        if (round === 1) {
          await restoreSnapshot(delta, restored, { resolve: () => snapshot });
          await compareFiles(restored, image);
          rmSync(restored);
        }
        return elapsed;
      };
      const create = () => timeOf(() => createSnapshot(image, whole, { overwrite: true }));
      const fast = [{ name: "hedgerow", time: save }];
      const slow = [{ name: "full snapshot", time: create }];
      const timed = [
        ...(await takeTurns(fast, plan.fastRounds)),
        ...(await takeTurns(slow, plan.rounds, { warmUps: 0 })),
      ];
      return resultsOf(about("save", MAIN), timed, itself, { writtenBytes: plan.writtenBytes });
    }),
  );
}
