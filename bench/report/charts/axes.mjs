// The domains of axes and the values labelled on them.

/** @typedef {{ domain: [number, number], values: number[] }} Range */

/**
 * Returns an axis from zero to the largest value, in round steps.
 *
 * @param {number} largest
 * @param {number} steps approximate number of steps
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

/**
 * The digits labelled within each power of ten, and the smallest gap between two of them as a share of it; densest
 * first.
 */
const STEPS = /** @type {const} */ ([
  { digits: [1, 2, 5], apart: 0.3 },
  { digits: [1, 3], apart: 0.47 },
  { digits: [1], apart: 1 },
]);

/**
 * Returns a logarithmic axis with a margin at both ends. Powers of ten are labelled, and digits between them as far
 * as there is room.
 *
 * @param {number[]} all values on the axis
 * @param {number} pixels length of the axis
 * @param {number} room pixels for a label
 * @returns {Range}
 */
export function logarithmic(all, pixels, room) {
  const [min, max] = [Math.min(...all) / 1.25, Math.max(...all) * 1.25];
  const power = pixels / Math.log10(max / min);
  const { digits } = STEPS.find(({ apart }) => apart * power >= room) ?? { digits: [1] };
  const every = Math.ceil(room / power);
  const [first, last] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  const powers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const isWithin = (/** @type {number} */ value) => value >= min && value <= max;
  const values = powers
    .filter((_, index) => index % every === 0)
    .flatMap((exponent) => digits.map((digit) => tidy(digit * 10 ** exponent)))
    .filter(isWithin);
  if (values.length > 1) return { domain: [min, max], values };
  // Values that are nearly equal may have no power of ten among them.
  return { domain: [min, max], values: linear(max, 8).values.filter(isWithin) };
}

/** Removes rounding errors of binary fractions. @param {number} value */
const tidy = (value) => Number(value.toPrecision(6));
