import type { ImageCache } from "../cache/image-cache.js";
import { SnapshotError } from "../error.js";
import { checkFunction } from "./check-types.js";
import { checkedDigestOf } from "./digest.js";
import type { Resolve } from "./work-options.js";

/** A range of an image: [start, end) in bytes. */
export interface ByteRange {
  /** The offset of its first byte. */
  readonly start: number;
  /** The offset of the byte after its last. */
  readonly end: number;
}

/** Options of `createSnapshot` for deltas. All but `base` need `base`. */
export interface DeltaOptions {
  /**
   * Location of the snapshot or delta to store the image relative to, usually the one that it was restored from: a
   * path, or a URL of `file:`, `http:`, `https:` or `s3:`. Default: none.
   */
  readonly base?: string | URL | undefined;
  /** Identity that the base must have, as 64 hexadecimal digits. Default: any. */
  readonly baseDigest?: string | undefined;
  /**
   * Cache to compare the image with the image of the base in. Nothing is added to it; without the image of the base,
   * it has no effect. Default: none.
   */
  readonly cache?: ImageCache | undefined;
  /**
   * Ranges of the image that may differ from the image of the base, in any order. Everything else counts as equal and
   * is not read. Default: they are detected.
   */
  readonly changed?: Iterable<ByteRange> | undefined;
  /** Returns the locations of the base objects of the base. Default: the references in the base. */
  readonly resolve?: Resolve | undefined;
}

/** Checked options of a delta. */
export interface Delta {
  readonly base: string | URL;
  readonly baseDigest: string | undefined;
  readonly changed: readonly ByteRange[] | undefined;
  readonly resolve: Resolve | undefined;
}

const DEPENDENT = ["baseDigest", "cache", "changed", "resolve"] as const;

/**
 * Checks the options of a delta, and applies defaults. Returns undefined without a base.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export function deltaOf(options: DeltaOptions): Delta | undefined {
  const { base, baseDigest, changed, resolve } = options;
  if (base === undefined) {
    const name = DEPENDENT.find((name) => options[name] !== undefined);
    if (name === undefined) return undefined;
    throw new SnapshotError(
      "ERR_ARGUMENT",
      `${name}: expected the option base with it, found none`,
    );
  }
  checkFunction("resolve", resolve);
  return {
    base,
    baseDigest: checkedDigestOf("baseDigest", baseDigest),
    changed: changed === undefined ? undefined : rangesOf(changed),
    resolve,
  };
}

/** Returns a copy of ranges. @throws {SnapshotError} `ERR_ARGUMENT` */
function rangesOf(ranges: Iterable<ByteRange>): ByteRange[] {
  const copies = copied(ranges);
  if (copies === undefined) {
    const message = `changed: expected ranges { start, end }, found ${typeof ranges}`;
    throw new SnapshotError("ERR_ARGUMENT", message);
  }
  const isOffset = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  const wrong = copies.find(({ start, end }) => !isOffset(start) || !isOffset(end) || end < start);
  if (wrong === undefined) return copies;
  const [start, end] = [wrong.start, wrong.end].map((value) => {
    return typeof value === "number" ? value : typeof value;
  });
  const message = `changed: expected 0 <= start <= end in whole bytes, found { start: ${start}, end: ${end} }`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** Returns a copy of ranges, or undefined if the value is not an iterable of them. */
function copied(ranges: unknown): ByteRange[] | undefined {
  try {
    if (typeof ranges !== "object" || ranges === null || !(Symbol.iterator in ranges)) return;
    return Array.from(ranges as Iterable<ByteRange>, ({ start, end }) => ({ start, end }));
  } catch {
    return undefined;
  }
}
