import { dataExtents, difference } from "../../local/extents.js";
import { reading } from "../../local/open-file.js";
import { readFully } from "../../local/read-write.js";
import { type ImageContent, readContent } from "../directory/image-record.js";
import type { Lease } from "../locks/leases.js";
import { type Fill, FrameDigests } from "./frame-digests.js";

/** The zeros with which holes are compared, a block of this length at a time. */
const ZEROS = Buffer.alloc(2 ** 20);

/** The maximum delay of a timer, in milliseconds: 24 days. */
const MAX_DELAY = 2 ** 31 - 1;

/** How images are read. */
export interface ReadPace {
  readonly signal?: AbortSignal | undefined;
  /** The maximum number of bytes read per second. */
  readonly bytesPerSecond?: number | undefined;
  /** Waits for a number of milliseconds. */
  pause(milliseconds: number): Promise<void>;
}

/**
 * Reads all of an image and returns how it is damaged, or undefined if it is intact.
 *
 * @param fd the open image
 * @param record the path of its record
 * @throws {SnapshotError} `ERR_CACHE`, and the reason of the signal
 */
export async function findDamage(
  { path, info }: Lease,
  fd: number,
  record: string,
  pace: ReadPace,
): Promise<string | undefined> {
  const content = await readContent(record, info);
  if (content === undefined) return "its record is damaged";
  const throttle = new Throttle(pace);
  const fill = async (bytes: Uint8Array, position: number) => {
    const count = await reading("ERR_CACHE", path, readFully(fd, bytes, position));
    if (count < bytes.length) return false;
    await throttle.add(bytes.length);
    return true;
  };
  const { frames } = content.manifest;
  const wrong = await findWrongFrame(content, fill);
  if (wrong !== undefined) {
    const [segment] = frames.segments(wrong);
    return `the data at byte ${segment?.imageOffset} does not match its digest`;
  }
  const extents = (await dataExtents(fd, info.imageSize)) ?? [{ start: 0, end: info.imageSize }];
  for (const { start, end } of difference(extents, frames.extents())) {
    for (let position = start; position < end; position += ZEROS.length) {
      const bytes = Buffer.alloc(Math.min(ZEROS.length, end - position));
      const isRead = await fill(bytes, position);
      const isZero = isRead && bytes.equals(ZEROS.subarray(0, bytes.length));
      if (!isZero) return `the hole at byte ${position} contains data`;
    }
  }
  return undefined;
}

/** Returns the first frame whose data does not match its digest. */
function findWrongFrame(
  { manifest: { info, frames }, digest }: ImageContent,
  fill: Fill,
): Promise<number | undefined> {
  return FrameDigests.with(info.pieceSize, fill, async (digests) => {
    for (let frame = 0; frame < frames.count; frame += 1) {
      if (frames.isHole(frame)) continue;
      const found = await digests.of(frames, frame);
      if (!found?.equals(digest(frame))) return frame;
    }
    return undefined;
  });
}

/** Limits the number of bytes read per second. */
class Throttle {
  readonly #pace: ReadPace;
  readonly #begun = performance.now();
  #bytes = 0;

  constructor(pace: ReadPace) {
    this.#pace = pace;
  }

  /** Counts bytes that were read, and waits if they came too soon. */
  async add(bytes: number): Promise<void> {
    const { signal, bytesPerSecond } = this.#pace;
    signal?.throwIfAborted();
    if (bytesPerSecond === undefined) return;
    this.#bytes += bytes;
    const ahead = (this.#bytes / bytesPerSecond) * 1000 - (performance.now() - this.#begun);
    if (ahead > 1) await this.#pace.pause(Math.min(ahead, MAX_DELAY));
  }
}
