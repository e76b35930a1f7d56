/** Where the data of an image is: its frames in the order of the image, regions, and a drawing. */
import type { FrameInfo, FrameSegment } from "@hedgerow/snapshot/reader";

/** A part of an image that a frame holds. */
interface Part extends FrameSegment {
  readonly frame: number;
}

/** A region of an image, and the frames whose data is in it. */
export interface Region {
  readonly start: number;
  readonly end: number;
  /** Bytes of data, and the bytes of frames that these take: of each frame, the share that lies in the region. */
  readonly dataSize: number;
  readonly compressedSize: number;
}

const [COLUMNS, ROWS, SIDE] = [128, 32, 8] as const;

/** Colours that are visible on light and dark pages. */
const COLOURS = { data: "#408c42", delta: "#d9822b", selected: "#1f6feb" } as const;

export class ImageMap {
  readonly #size: number;
  readonly #frames: readonly FrameInfo[];
  readonly #isDelta: boolean;
  readonly #parts: readonly Part[];

  constructor(size: number, frames: readonly FrameInfo[], isDelta: boolean) {
    this.#size = size;
    this.#frames = frames;
    this.#isDelta = isDelta;
    this.#parts = frames
      .flatMap(({ segments }, frame) => segments.map((segment) => ({ ...segment, frame })))
      .sort((a, b) => a.imageOffset - b.imageOffset);
  }

  /** Returns the frames whose data is in [start, end) of the image. */
  framesIn(start: number, end: number): Set<number> {
    return new Set(this.#partsIn(start, end).map(({ frame }) => frame));
  }

  /** Returns the offset of a point of the drawing in the image. @param x and y from 0 to 1 */
  offsetAt(x: number, y: number): number {
    const clamp = (value: number, count: number) =>
      Math.max(0, Math.min(count - 1, Math.floor(value * count)));
    return Math.floor(
      (this.#size * (clamp(y, ROWS) * COLUMNS + clamp(x, COLUMNS))) / (ROWS * COLUMNS),
    );
  }

  /** Divides the image into regions of equal sizes. */
  regions(count: number): Region[] {
    return Array.from({ length: count }, (_, index) => {
      const start = Math.floor((this.#size * index) / count);
      const end = Math.floor((this.#size * (index + 1)) / count);
      let [dataSize, compressedSize] = [0, 0];
      for (const { imageOffset, length, frame } of this.#partsIn(start, end)) {
        const bytes = Math.min(end, imageOffset + length) - Math.max(start, imageOffset);
        const { compressedLength, length: rawLength } = this.#frames[frame]!;
        dataSize += bytes;
        compressedSize += (bytes * compressedLength) / rawLength;
      }
      return { start, end, dataSize, compressedSize };
    });
  }

  /** Draws data, data that a delta changed, and the selected frame. Holes stay empty. */
  draw(canvas: HTMLCanvasElement, selected: number): void {
    const context = canvas.getContext("2d");
    if (context === null) return;
    [canvas.width, canvas.height] = [COLUMNS * SIDE, ROWS * SIDE];
    const cells = COLUMNS * ROWS;
    for (let cell = 0; cell < cells; cell += 1) {
      const start = Math.floor((this.#size * cell) / cells);
      const frames = this.framesIn(
        start,
        Math.max(start + 1, Math.floor((this.#size * (cell + 1)) / cells)),
      );
      if (frames.size === 0) continue;
      const isChanged =
        this.#isDelta && [...frames].some((frame) => this.#frames[frame]?.object === 0);
      const colour = isChanged ? COLOURS.delta : COLOURS.data;
      context.fillStyle = frames.has(selected) ? COLOURS.selected : colour;
      context.fillRect((cell % COLUMNS) * SIDE, Math.floor(cell / COLUMNS) * SIDE, SIDE, SIDE);
    }
  }

  #partsIn(start: number, end: number): Part[] {
    let [low, high] = [0, this.#parts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { imageOffset, length } = this.#parts[middle]!;
      if (imageOffset + length <= start) low = middle + 1;
      else high = middle;
    }
    const found: Part[] = [];
    for (; low < this.#parts.length && this.#parts[low]!.imageOffset < end; low += 1) {
      found.push(this.#parts[low]!);
    }
    return found;
  }
}
