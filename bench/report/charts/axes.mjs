// Axes: how far they go, and what stands at them.

/** @typedef {{ domain: [number, number], values: number[] }} Range */

/**
 * From zero to the largest, in steps that people count by.
 *
 * @param {number} largest
 * @param {number} steps about how many
 * @returns {Range}
 */
export function linear(largest, steps) {
  const raw = largest / steps;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 2.5, 5, 10].find((times) => times * power >= raw * 0.999) ?? 10);
  const count = Math.max(1, Math.ceil((largest / step) * 0.999));
  const values = Array.from({ length: count + 1 }, (_, index) => tidy(index * step));
  return { domain: [0, Math.max(values.at(-1) ?? largest, largest)], values };
}

/** What stands at an axis of powers of ten, and the least share of a power between two of these: the most first. */
const STEPS = /** @type {const} */ ([
  { digits: [1, 2, 5], apart: 0.3 },
  { digits: [1, 3], apart: 0.47 },
  { digits: [1], apart: 1 },
]);

/**
 * From a bit below the least to a bit above the largest, by powers of ten, and by digits between where there is room.
 *
 * @param {number[]} all
 * @param {number} pixels how long the axis is
 * @param {number} room how many of them a number takes
 * @returns {Range}
 */
export function logarithmic(all, pixels, room) {
  const [least, most] = [Math.min(...all) / 1.25, Math.max(...all) * 1.25];
  const power = pixels / Math.log10(most / least);
  const { digits } = STEPS.find(({ apart }) => apart * power >= room) ?? { digits: [1] };
  const every = Math.ceil(room / power);
  const [first, last] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
  const powers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const isWithin = (/** @type {number} */ value) => value >= least && value <= most;
  const values = powers
    .filter((_, index) => index % every === 0)
    .flatMap((exponent) => digits.map((digit) => tidy(digit * 10 ** exponent)))
    .filter(isWithin);
  // Where figures are nearly the same, no power of ten is among them.
  const few = () => linear(most, 8).values.filter(isWithin);
  return { domain: [least, most], values: values.length < 2 ? few() : values };
}

/** Without what binary fractions leave. @param {number} value */
const tidy = (value) => Number(value.toPrecision(6));

/** How numbers stand at axes: 100,000 and 0.001. */
export const FORMAT = ",.6~r";
