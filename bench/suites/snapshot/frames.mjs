// The pieces of a real image, and zstd frames of them.
import { closeSync, openSync, readSync, statSync } from "node:fs";
import * as zlib from "node:zlib";

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
