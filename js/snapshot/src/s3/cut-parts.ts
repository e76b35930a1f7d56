import { type Content, type CopiedRange, type CopySource, sizeOf } from "./content.js";
import { MIN_PART_SIZE } from "./limits.js";

/** How content is cut. */
export interface CutOptions {
  /** The size of a part of bytes, in bytes, if enough of them are consecutive. */
  readonly partSize: number;
  /** Stores contents as an object of their own. Only the last may be smaller than a part. */
  join(contents: readonly Content[]): Promise<CopySource>;
}

/**
 * Cuts content into parts of an upload: bytes, and ranges to copy. All parts but the first and the last are at
 * least as large as S3 demands. Contents that are smaller are joined to the end of the part before them, in a
 * temporary object, and the part is copied from there.
 */
export async function* cutParts(
  contents: AsyncIterable<Content>,
  { partSize, join }: CutOptions,
): AsyncGenerator<Content> {
  const bytes = new Bytes();
  /** The part before the bytes, to which they may have to be joined. */
  let held: Content | undefined;
  async function* add(content: Content): AsyncGenerator<Content> {
    if (held === undefined || sizeOf(content) >= MIN_PART_SIZE) {
      if (held !== undefined) yield held;
      held = content;
      return;
    }
    const [front, back] = splitEnd(held);
    if (front !== undefined) yield front;
    const source = join([back, content]);
    // It is awaited when the part is copied. Until then, a rejection must not count as unhandled.
    source.catch(() => {});
    held = { source, start: 0, end: sizeOf(back) + sizeOf(content) };
  }
  for await (const content of contents) {
    if (content instanceof Uint8Array) {
      bytes.push(content);
      // What remains can be a part, too.
      while (bytes.length >= partSize + MIN_PART_SIZE) yield* add(bytes.take(partSize));
    } else {
      if (bytes.length > 0) yield* add(bytes.take(bytes.length));
      yield* add(content);
    }
  }
  if (held !== undefined) yield held;
  if (bytes.length > 0) yield bytes.take(bytes.length);
}

/** Splits a range so that the end is just large enough for a part, if the front then is, too. */
function splitEnd(content: Content): [CopiedRange | undefined, Content] {
  if (content instanceof Uint8Array || sizeOf(content) < 2 * MIN_PART_SIZE) {
    return [undefined, content];
  }
  const middle = content.end - MIN_PART_SIZE;
  return [
    { ...content, end: middle },
    { ...content, start: middle },
  ];
}

/** Consecutive bytes, in chunks. */
class Bytes {
  #chunks: Uint8Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Removes the first `length` bytes, and returns them. */
  take(length: number): Uint8Array {
    const all = Buffer.concat(this.#chunks);
    const rest = all.subarray(length);
    this.#chunks = rest.length > 0 ? [Buffer.from(rest)] : [];
    this.#length = rest.length;
    return all.subarray(0, length);
  }
}
