// Measures disks: how soon they are usable, and how fast they are when they are filled.
import { measureParts } from "../../harness/results.mjs";
import { log } from "../../harness/turns.mjs";
import { measureBoots } from "./boots.mjs";
import { SUITE } from "./disks.mjs";
import { measureFilled, measureFills, measureSaves } from "./filled.mjs";
import { measureCached, measureSizes } from "./first-byte.mjs";
import { measureGuestReads } from "./guest-reads.mjs";
import { makeInputs } from "./inputs.mjs";
import { measureMounts } from "./mounts.mjs";
import { measurePieces } from "./replays.mjs";
import { measureWaits } from "./waits.mjs";

/** @import { Context } from "./first-byte.mjs" */
/** @import { Measured } from "../../harness/results.mjs" */

/** @type {Record<string, (context: Context) => Measured[] | Promise<Measured[]>>} */
const PARTS = {
  "first byte, cached": measureCached,
  mount: measureMounts,
  boot: measureBoots,
  pieces: measurePieces,
  fill: measureFills,
  wait: measureWaits,
  filled: measureFilled,
  "guest reads": measureGuestReads,
  save: measureSaves,
  "first byte": measureSizes,
};

/** @param {import("./suite.mjs").Parameters} parameters */
export async function measure({ memory, disk, plan }) {
  const inputs = await makeInputs(memory, plan);
  try {
    const parts = Object.entries(PARTS).map(([name, part]) => [
      name,
      () => {
        log(name);
        return part({ inputs, disk, plan });
      },
    ]);
    return await measureParts(SUITE, Object.fromEntries(parts));
  } finally {
    await inputs.cache.close();
  }
}
