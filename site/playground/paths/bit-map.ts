/** Draws the bits of a filter, and those that a query reads. */
import type { PathFilterParams } from "hedgerow";
import type { FilterBody, Probe } from "./probes.js";

/** The most cells in a row, and in all. A cell stands for several bits if there are more. */
const [MAX_COLUMNS, MAX_CELLS] = [256, 2 ** 15];

/** How many bits of a cell are read at most, evenly spaced: a filter may have billions. */
const MAX_SAMPLES = 64;

/** The width of the drawing, in pixels. */
const WIDTH = 768;

/** Colours that are visible on light and dark pages. */
const COLOURS = { set: [64, 140, 66], one: "#1f6feb", zero: "#d1242f" } as const;

/** Draws to a canvas, and sets its size. */
export function drawBitMap(
  canvas: HTMLCanvasElement,
  body: FilterBody,
  { bloom, fuse }: PathFilterParams,
  probes: readonly Probe[],
): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const count = bloom?.m ?? fuse?.m ?? 0;
  const perCell = Math.ceil(count / MAX_CELLS);
  const cells = Math.ceil(count / perCell);
  const columns = Math.min(MAX_COLUMNS, Math.ceil(Math.sqrt(cells * 4)));
  const side = Math.max(1, Math.floor(WIDTH / columns));
  canvas.width = columns * side;
  canvas.height = Math.ceil(cells / columns) * side;
  const square = (cell: number, margin = 0) =>
    context.fillRect(
      (cell % columns) * side - margin,
      Math.floor(cell / columns) * side - margin,
      side + 2 * margin,
      side + 2 * margin,
    );
  /** Returns how dark a bit or slot is drawn, from 0 to 1: a slot by its value. */
  const darkness = (index: number) =>
    bloom === undefined ? body.slot(index) / 2 ** 24 : Number(body.bit(index));
  for (let cell = 0; cell < cells; cell += 1) {
    const [start, end] = [cell * perCell, Math.min(count, (cell + 1) * perCell)];
    const step = Math.ceil((end - start) / MAX_SAMPLES);
    let [sum, samples] = [0, 0];
    for (let index = start; index < end; index += step, samples += 1) sum += darkness(index);
    context.fillStyle = `rgb(${COLOURS.set.join(" ")} / ${sum / samples})`;
    square(cell);
  }
  for (const { index, isSet } of probes) {
    const cell = Math.floor(index / perCell);
    context.fillStyle = "#ffffff";
    square(cell, 3);
    context.fillStyle = isSet ? COLOURS.one : COLOURS.zero;
    square(cell, 2);
  }
}
