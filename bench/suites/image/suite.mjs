// Disk images of container images, compared with the programs that make them by hand.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inMemory } from "../../harness/temporary.mjs";

/** The size of the files of the image, in bytes, and of those in a new layer. */
export const PLAN = { dataBytes: 1e9, layers: 8, newBytes: 20e6, rounds: 5 };

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = { dataBytes: 50e6, layers: 3, newBytes: 2e6, rounds: 1 };

/** Space that is free in the file systems. */
export const FREE_BYTES = 2 ** 30;

export const prepare = () => installPrograms("image");

/** @typedef {{ folder: string, plan: Plan }} Parameters */

/** @param {Plan} plan */
export const measure = (plan) =>
  inMemory((folder) => runScript("image", "in memory, Node 24", node24, "run", { folder, plan }));
