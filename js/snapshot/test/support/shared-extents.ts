/** Shared ranges of clones, and the naive way to find them: a flag for each block. */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readSync, statSync } from "node:fs";

import { expectSame } from "../../../../tests/support/snapshots/image.js";
import type { ByteRange } from "../../src/format/byte-ranges.js";
import { sharedExtents } from "../../src/local/shared-extents.js";

const BLOCK = 4096;

/** The blocks of an image that were data of its base and were not written to since. */
export class SharedBlocks {
  readonly #isShared: boolean[];

  /** Begins with the clone of a base of `size` bytes that has data in `stretches` of whole blocks. */
  constructor(size: number, stretches: readonly (readonly [number, number])[] = [[0, size]]) {
    this.#isShared = Array.from({ length: Math.floor(size / BLOCK) }, (_, block) =>
      stretches.some(([start, end]) => start <= block * BLOCK && (block + 1) * BLOCK <= end),
    );
  }

  /** Notes that something has changed some of the bytes in [start, end). */
  touch(start: number, end = Number.POSITIVE_INFINITY): void {
    const last = Math.min(Math.ceil(end / BLOCK), this.#isShared.length);
    if (start < end) this.#isShared.fill(false, Math.floor(start / BLOCK), last);
  }

  /** Returns the blocks as ranges that are not adjacent. */
  ranges(): ByteRange[] {
    const ranges: { start: number; end: number }[] = [];
    for (const [block, isShared] of this.#isShared.entries()) {
      const [start, previous] = [block * BLOCK, ranges.at(-1)];
      if (isShared && previous?.end === start) previous.end += BLOCK;
      else if (isShared) ranges.push({ start, end: start + BLOCK });
    }
    return ranges;
  }
}

/** Makes a file share all blocks of another. Replaces the data of an existing file. */
export function clone(from: string, to: string): void {
  execFileSync("cp", ["--reflink=always", from, to]);
}

/** Finds the shared ranges of two files. Checks that they are equal there. Pass sizes to open less of a file. */
export async function shared(
  image: string,
  base: string,
  sizes: { readonly image?: number; readonly base?: number } = {},
): Promise<readonly ByteRange[] | undefined> {
  const [imageFd, baseFd] = [openSync(image, "r"), openSync(base, "r")];
  try {
    const found = await sharedExtents(
      { fd: imageFd, size: sizes.image ?? statSync(image).size },
      { fd: baseFd, size: sizes.base ?? statSync(base).size },
    );
    expectEqualRanges(imageFd, baseFd, found ?? []);
    return found;
  } finally {
    closeSync(imageFd);
    closeSync(baseFd);
  }
}

/** Throws unless two open files are equal in each range. */
function expectEqualRanges(one: number, other: number, ranges: readonly ByteRange[]): void {
  for (const { start, end } of ranges) {
    const [expected, found] = [one, other].map((file) => {
      const bytes = Buffer.alloc(end - start);
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
    });
    expectSame(found!, expected!);
  }
}
