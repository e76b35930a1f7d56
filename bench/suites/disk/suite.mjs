// Disks: using a snapshot before it has arrived, compared with restoring it first and with other NBD servers.
import { installDebianPackages, installPrograms } from "../../../scripts/lib/debian.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { capture } from "../../../scripts/lib/run.mjs";
import { makeGuest } from "../../../scripts/lib/set-up-tests.mjs";
import { runScript } from "../../harness/programs.mjs";
import { FAST } from "../../harness/server.mjs";
import { inMemory, onDisk, ownMounts } from "../../harness/temporary.mjs";

const MIB = 2 ** 20;

/** The size of the image of most measurements. */
export const MAIN = "4 GiB";

export const PLAN = {
  /** Of images, in bytes, by name. */
  sizes: /** @type {Record<string, number>} */ ({
    "0.8 GiB": 819 * MIB,
    "2 GiB": 2 * 2 ** 30,
    [MAIN]: 4 * 2 ** 30,
    "8 GiB": 8 * 2 ** 30,
    "16 GiB": 16 * 2 ** 30,
  }),
  /** Files in an image, as a share of its size. */
  dataShare: 0.28,
  /** Rounds of methods that take less than a second, of the others, and of boots. */
  fastRounds: 11,
  rounds: 3,
  bootRounds: 9,
  /** Rounds of copies of a filled disk. */
  copyRounds: 5,
  /** Fills during which a reader waits for missing data, and its reads while nothing is filled. */
  fills: 3,
  idleReads: 200,
  /** Files that programs read from a mounted disk and in a guest. */
  files: 300,
  /** Whether guests also run Python and Node, and boot in all ways. */
  allBoots: true,
  /** Seconds of each run of fio. */
  fioSeconds: 3,
  /** Bytes that are written before a save. */
  writtenBytes: 20e6,
};

/** @typedef {typeof PLAN} Plan */

/** Smaller images, fewer of them, and less data. @type {Plan} */
export const QUICK = {
  ...PLAN,
  sizes: { "0.8 GiB": 2 ** 28, [MAIN]: 2 ** 29 },
  dataShare: 0.1,
  fastRounds: 1,
  rounds: 1,
  bootRounds: 1,
  copyRounds: 1,
  fills: 1,
  idleReads: 10,
  files: 30,
  allBoots: false,
  fioSeconds: 1,
};

/** A network that limits all connections together. @type {import("../../harness/server.mjs").Network} */
export const SHARED = {
  name: "60 MB/s shared, 30 ms",
  sharedBytesPerSecond: 60e6,
  firstByte: 30,
};

export const NETWORKS = [FAST, SHARED];

/** Sizes of pieces in bytes, by name. */
export const PIECES = {
  "64 KiB": 2 ** 16,
  "256 KiB": 2 ** 18,
  "1 MiB": MIB,
  "4 MiB": 4 * MIB,
};

/** The default size of a piece. */
export const MAIN_PIECE = "1 MiB";

/** Reads images over HTTP for QEMU; it has no program. */
const QEMU_CURL = "qemu-block-extra";

export function prepare() {
  installPrograms("disk");
  if (capture("dpkg", ["--status", QEMU_CURL]) === undefined) installDebianPackages([QEMU_CURL]);
  makeGuest();
}

/**
 * Two folders and the plan. Most images are in memory, so that no disk slows down what is compared. Those whose holes NBD
 * clients look for are on a disk, because tmpfs finds holes slowly.
 *
 * @typedef {{ memory: string, disk: string, plan: Plan }} Parameters
 */

/** @param {Plan} plan */
export function measure(plan) {
  const command = [...ownMounts(), node24];
  return onDisk((disk) =>
    inMemory((memory) =>
      runScript("disk", "images in memory, Node 24", command, "run", { memory, disk, plan }),
    ),
  );
}
