// Stores of disks: attaching, saving, forking and collecting, compared with other tools that do the same.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { installGoTool } from "../../../scripts/lib/go.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { installSuite } from "../../../scripts/lib/suites.mjs";
import { runScript } from "../../harness/programs.mjs";
import { onDisk, ownMounts } from "../../harness/temporary.mjs";

export const PLAN = {
  imageBytes: 4 * 2 ** 30,
  dataBytes: Math.round(0.28 * 4 * 2 ** 30),
  /** The share of the data that is written before a save, in clusters. */
  share: 0.01,
  /** Rounds of methods that take less than a second, and of others. */
  fastRounds: 11,
  rounds: 3,
  /** Disks that are forked and attached at once. */
  forks: 32,
  /** Disks of the collection, their generations, and snapshots that nothing refers to. */
  disks: 1_000,
  generations: 98,
  unreferenced: 2_000,
  /** The image in each object service. */
  service: { imageBytes: 2 ** 30, dataBytes: 240e6 },
};

/** @typedef {typeof PLAN} Plan */

/** @type {Plan} */
export const QUICK = {
  ...PLAN,
  imageBytes: 2 ** 29,
  dataBytes: 50e6,
  ...{ fastRounds: 1, rounds: 1, forks: 4, disks: 10, generations: 10, unreferenced: 20 },
  service: { imageBytes: 2 ** 28, dataBytes: 20e6 },
};

/** Space for the disk of the benchmark, in bytes: of a sparse file. */
export const XFS_BYTES = 40 * 2 ** 30;

/** A limit under which nothing is evicted. */
export const NO_EVICTION = 2 ** 40;

export function prepare() {
  installPrograms("store");
  for (const name of /** @type {const} */ (["versitygw", "desync", "fake-gcs-server"]))
    installGoTool(name);
  installSuite("tests/services");
}

/** @typedef {{ folder: string, plan: Plan }} Parameters */

/** @param {Plan} plan */
export const measure = (plan) =>
  onDisk((folder) =>
    runScript("store", "images on XFS, Node 24", [...ownMounts(), node24], "run", { folder, plan }),
  );
