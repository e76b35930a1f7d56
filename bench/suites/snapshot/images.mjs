// Measures whole images and the zstd command, each run in a process of its own. Writes its files beside the image.
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readSync, rmSync, statSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as zlib from "node:zlib";
import { NODE, result, resultsOf } from "../../harness/results.mjs";
import { runOnce, takeTurns } from "../../harness/turns.mjs";

/** The factor of size of an image with the same data. */
const LARGER = 16;

const here = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const WITHOUT_KOFFI = ["--import", here("without-koffi.mjs")];

/** @typedef {[program: string, ...args: string[]]} Command */

/** @param {string[]} work @returns {Command} */
const hedgerow = (...work) => [process.execPath, here("work.mjs"), ...work];

/** @param {string[]} args @returns {Command} */
const zstd = (...args) => ["zstd", "-q", "-f", ...args];

/** @param {import("./suite.mjs").Parameters} parameters */
export async function measure({ image, plan: { imageBytes, dataBytes, rounds } }) {
  const inFolder = (/** @type {string} */ name) => join(dirname(image), name);
  const [large, snapshot, zst] = [
    inFolder("large.ext4"),
    inFolder("image.vhs"),
    inFolder("image.zst"),
  ];
  const [restored, scratch] = [inFolder("restored"), inFolder("other.vhs")];
  // The same data in a larger image.
  execFileSync("cp", ["--sparse=always", image, large]);
  truncateSync(large, LARGER * imageBytes);
  const inLarger = `${LARGER} times as large, the same data`;
  const [node, ...createLarge] = hedgerow("create", large, scratch, "2");
  /** @type {Record<string, Record<string, Command>>} */
  const workloads = {
    create: {
      hedgerow: hedgerow("create", image, snapshot, "2"),
      "hedgerow, 1 worker": hedgerow("create", image, scratch, "1"),
      "zstd -3 -T2": zstd("-3", "-T2", image, "-o", zst),
    },
    restore: {
      hedgerow: hedgerow("restore", snapshot, restored, "2"),
      "hedgerow, 1 worker": hedgerow("restore", snapshot, restored, "1"),
      "zstd -d --sparse": zstd("-d", "--sparse", zst, "-o", restored),
      "zstd -d --sparse of a snapshot": zstd("-d", "--sparse", snapshot, "-o", restored),
    },
    [`create, ${inLarger}`]: {
      hedgerow: [node, ...createLarge],
      "hedgerow, without koffi": [node, ...WITHOUT_KOFFI, ...createLarge],
    },
    [`restore, ${inLarger}`]: { hedgerow: hedgerow("restore", scratch, restored, "2") },
  };

  /** Runs a command once, after removing its output. @param {Command} command */
  const time = ([program, ...args]) => {
    rmSync(restored, { force: true });
    const start = process.hrtime.bigint();
    const printed = runOnce(program, ...args);
    const elapsed = Number(process.hrtime.bigint() - start) / 1e6;
    return { elapsed, memory: Number(printed) };
  };

  const suite = `snapshot-images-${NODE}`;
  const details = { imageBytes, dataBytes };
  const results = [];
  for (const [workload, commands] of Object.entries(workloads)) {
    const methods = Object.entries(commands).map(([name, command]) => ({
      name,
      time: () => time(command),
    }));
    const timed = await takeTurns(methods, rounds, { warmUps: 0 });
    const inMilliseconds = { suite, workload, unit: "ms" };
    results.push(...resultsOf(inMilliseconds, timed, ({ elapsed }) => elapsed, details));
    const ours = timed.filter(({ name, why }) => name.startsWith("hedgerow") && why === undefined);
    const peak = { suite: `${suite}, peak memory`, workload, unit: "MiB" };
    results.push(...resultsOf(peak, ours, ({ memory }) => memory / 2 ** 20, details));
  }

  let frames = 0;
  for (const piece of dataPieces(image)) frames += zstdFrame(piece).length;
  const sizes = {
    hedgerow: statSync(snapshot).size,
    "zstd -3, frames of 1 MiB": frames,
    "zstd -3, one frame": statSync(zst).size,
  };
  const about = { suite: "snapshot-size", workload: "the file of a snapshot", unit: "MB" };
  for (const [method, size] of Object.entries(sizes)) {
    results.push(result(about, method, [size / 1e6], details));
  }
  return results;
}

/** Zstd functions of Node 22.15 and later, missing in the types of Node 20. */
const { constants, zstdCompressSync, zstdDecompressSync } =
  /** @type {{ constants: Record<string, number>, zstdCompressSync(raw: Uint8Array, options: { params: Record<number, number> }): Buffer, zstdDecompressSync(frame: Uint8Array): Buffer }} */ (
    /** @type {unknown} */ (zlib)
  );

export { zstdDecompressSync };

const PIECE = 2 ** 20;

/** Yields the pieces of an image that are not all zeros. @param {string} image */
export function* dataPieces(image) {
  const fd = openSync(image, "r");
  try {
    const zeros = Buffer.alloc(PIECE);
    const { size } = statSync(image);
    for (let offset = 0; offset < size; offset += PIECE) {
      const piece = Buffer.alloc(PIECE);
      const length = readSync(fd, piece, 0, PIECE, offset);
      if (!piece.equals(zeros)) yield piece.subarray(0, length);
    }
  } finally {
    closeSync(fd);
  }
}

/** Compresses with Node’s zstd, with the level and the checksum of snapshots. @param {Uint8Array} raw */
export function zstdFrame(raw) {
  const { ZSTD_c_checksumFlag = 0, ZSTD_c_compressionLevel = 0 } = constants;
  return zstdCompressSync(raw, {
    params: { [ZSTD_c_compressionLevel]: 3, [ZSTD_c_checksumFlag]: 1 },
  });
}
