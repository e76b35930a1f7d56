import type { FileHandle } from "node:fs/promises";
import type { Encoding } from "../encode/snapshot-encoder.js";
import { type ByteRange, intersect, subtract, toSet, union, widen } from "../format/byte-ranges.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { ImageFile } from "../local/image-file.js";
import { openFile } from "../local/open-file.js";
import { sharedExtents } from "../local/shared-extents.js";
import type { WorkOptions } from "../workers/pool.js";
import type { Candidate, Changes } from "./delta-pieces.js";
import { differingPieces, type OpenBase, restoreRanges } from "./differing-pieces.js";

/**
 * How the changes of an image were found:
 *
 * - `changed`: the caller named them.
 * - `extents`: the file system reported which blocks the image shares with the cached image of the base; all others
 *   were compared.
 * - `compare`: the image was compared with the cached image of the base.
 * - `digests`: the pieces of the image were compared with the digests in the base, and pieces that differ with the data
 *   of the base.
 */
export type Detection = "changed" | "extents" | "compare" | "digests";

/** What is known about the changes of an image. */
export interface Changed {
  /** The ranges that may have changed, if the caller knows them. */
  readonly changed?: Iterable<ByteRange> | undefined;
  /** The blocks that changed or are rewritten, if a copy of these is read in place of the image. */
  readonly copied?: CopiedBlocks | undefined;
}

/** Blocks of an image in a copy. */
export interface CopiedBlocks {
  /** In order. They can be iterated several times. */
  readonly candidates: Iterable<Candidate>;
  /** Returns whether a range of the image may be data. */
  mayHoldData(start: number, end: number): boolean;
}

/** An image, and the base to compare it with. */
export interface Comparison {
  readonly image: ImageFile;
  readonly encoding: Encoding;
  readonly base: OpenBase;
  readonly delta: Changed;
  /** Ranges that are written whether they have changed or not. */
  readonly rewritten: readonly ByteRange[];
  readonly options: WorkOptions;
}

/** The blocks that may have changed. All others are equal. */
export interface Detected extends Changes {
  readonly detection: Detection;
  /** The file of the base's image, if any blocks are compared with it. The caller closes it. */
  readonly file?: FileHandle;
}

/**
 * Finds the blocks of an image that may differ from its base.
 *
 * @throws {SnapshotError} `ERR_IMAGE`, `ERR_CACHE`, `ERR_TARGET`, and what reading the base throws
 */
export async function detectChanges(comparison: Comparison): Promise<Detected> {
  const { image, base, delta, rewritten, options } = comparison;
  const { imageSize: size } = base.manifest.info;
  const { changed, copied } = delta;
  if (copied !== undefined) return { detection: "changed", ...copied, baseImage: undefined };
  const certain = union(rewritten, grownBlock(image.size, size));
  // Outside of it, both images are zeros.
  const data = union(toSet(await image.extents(), image.size), base.segments.extents());
  if (changed !== undefined) {
    const known = intersect(toSet([...changed], image.size), data);
    const grown = intersect([{ start: size, end: Math.max(size, image.size) }], data);
    const candidates = candidatesOf(image.size, union(certain, known, grown), []);
    return { detection: "changed", candidates, baseImage: undefined };
  }
  if (base.data === undefined)
    throw new Error("the base of an image with unknown changes is not open");
  if ("path" in base.data) {
    const name = base.data.path;
    const file = await openFile("ERR_CACHE", name, (opened) => opened);
    try {
      const baseImage = { fd: file.fd, name, size };
      const shared = (await sharedExtents(image, baseImage)) ?? [];
      options.signal?.throwIfAborted();
      const detection = shared.length > 0 ? "extents" : "compare";
      const candidates = candidatesOf(image.size, certain, subtract(data, shared));
      return { detection, candidates, baseImage, file };
    } catch (error) {
      await file.close();
      throw error;
    }
  }
  const differing = await differingPieces(image, comparison.encoding, base.segments, options);
  const wanted = subtract(differing, rewritten);
  const { path: name, handle: file } = await restoreRanges(base.data, base, wanted, options);
  const candidates = candidatesOf(image.size, certain, differing);
  return { detection: "digests", candidates, baseImage: { fd: file.fd, name, size }, file };
}

/** Returns the candidates of an image, in order: `changed` ranges, and all other blocks of `compared` ranges. */
export function candidatesOf(
  imageSize: number,
  changed: readonly ByteRange[],
  compared: readonly ByteRange[],
): Candidate[] {
  const certain = widen(changed, BLOCK_SIZE, imageSize);
  const possible = subtract(widen(compared, BLOCK_SIZE, imageSize), certain);
  const candidates = [
    ...certain.map((extent) => ({ ...extent, isCompared: false })),
    ...possible.map((extent) => ({ ...extent, isCompared: true })),
  ];
  return candidates.sort((a, b) => a.start - b.start);
}

/** Returns the last block of a base if it is incomplete and the image is longer: it then counts as changed. */
function grownBlock(imageSize: number, baseSize: number): ByteRange[] {
  const rest = baseSize % BLOCK_SIZE;
  if (rest === 0 || imageSize <= baseSize) return [];
  return [{ start: baseSize - rest, end: baseSize }];
}
