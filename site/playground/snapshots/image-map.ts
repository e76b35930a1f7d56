/** Where the data of an image is: its frames in the order of the image, regions, and a drawing. */
import type { FrameInfo, FrameSegment } from "@hedgerow/snapshot/reader";

/** A part of an image that a frame holds. */
interface Part extends FrameSegment {
  readonly frame: number;
}

/** A region of an image, and the frames whose data is in it. */
export interface Region {
  readonly start: number;
  /** Bytes of data, and the bytes of frames that these take: of each frame, the share that lies in the region. */
  readonly dataSize: number;
  readonly compressedSize: number;
}

/** The cells of the drawing, and the side of each in pixels. */
const [COLUMNS, ROWS, SIDE] = [128, 32, 8] as const;
const CELLS = COLUMNS * ROWS;

/** Colours that are visible on light and dark pages. */
const COLOURS = { data: "#408c42", delta: "#d9822b", selected: "#1f6feb" } as const;

export class ImageMap {
  readonly #size: number;
  readonly #frames: readonly FrameInfo[];
  readonly #parts: readonly Part[];
  readonly #colours: readonly (string | undefined)[];

  constructor(size: number, frames: readonly FrameInfo[], isDelta: boolean) {
    this.#size = size;
    this.#frames = frames;
    this.#parts = frames
      .flatMap(({ segments }, frame) => segments.map((segment) => ({ ...segment, frame })))
      .sort((a, b) => a.imageOffset - b.imageOffset);
    this.#colours = this.#coloursOf(isDelta);
  }

  /** Returns the frames whose data is in [start, end) of the image. */
  framesIn(start: number, end: number): Set<number> {
    return new Set(this.#partsIn(start, end).map(({ frame }) => frame));
  }

  /** Returns the first frame at a point of the drawing, if there is one. @param x and y from 0 to 1 */
  frameAt(x: number, y: number): number | undefined {
    const clamp = (value: number, count: number) =>
      Math.max(0, Math.min(count - 1, Math.floor(value * count)));
    const cell = clamp(y, ROWS) * COLUMNS + clamp(x, COLUMNS);
    const offsetOf = (cell: number) => (this.#size * cell) / CELLS;
    return this.#partsIn(offsetOf(cell), offsetOf(cell + 1))[0]?.frame;
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
      return { start, dataSize, compressedSize };
    });
  }

  /** Draws data, data that a delta changed, and the selected frame. Holes stay empty. */
  draw(canvas: HTMLCanvasElement, selected: number): void {
    const context = canvas.getContext("2d");
    if (context === null) return;
    [canvas.width, canvas.height] = [COLUMNS * SIDE, ROWS * SIDE];
    const fill = (cell: number, colour: string) => {
      context.fillStyle = colour;
      context.fillRect((cell % COLUMNS) * SIDE, Math.floor(cell / COLUMNS) * SIDE, SIDE, SIDE);
    };
    for (const [cell, colour] of this.#colours.entries()) {
      if (colour !== undefined) fill(cell, colour);
    }
    for (const { imageOffset, length } of this.#frames[selected]?.segments ?? []) {
      const last = this.#cellOf(imageOffset + length - 1);
      for (let cell = this.#cellOf(imageOffset); cell <= last; cell += 1) {
        fill(cell, COLOURS.selected);
      }
    }
  }

  /** Returns the colour of each cell of the drawing, or undefined for one that is a hole. */
  #coloursOf(isDelta: boolean): (string | undefined)[] {
    const colours = new Array<string | undefined>(CELLS);
    for (const { imageOffset, length, frame } of this.#parts) {
      const isChanged = isDelta && this.#frames[frame]?.object === 0;
      const last = this.#cellOf(imageOffset + length - 1);
      for (let cell = this.#cellOf(imageOffset); cell <= last; cell += 1) {
        if (colours[cell] !== COLOURS.delta) {
          colours[cell] = isChanged ? COLOURS.delta : COLOURS.data;
        }
      }
    }
    return colours;
  }

  #cellOf(offset: number): number {
    return Math.min(CELLS - 1, Math.floor((offset / this.#size) * CELLS));
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
