// Traces of requests for images.
import { seededRandom } from "../../../tests/origin/random.mjs";

/** @typedef {import("./plan.mjs").TracePlan} TracePlan */

/** The numbers of the requested images. @typedef {{ name: string, requests: number[] }} Trace */

/** @param {TracePlan} plan @returns {Trace[]} */
export function makeTraces(plan) {
  const zipf = plan.exponents.map((exponent) => ({
    name: `Zipf, exponent ${exponent}`,
    requests: requestsOf(plan, (index) => (index + 1) ** -exponent),
  }));
  const { images, share } = plan.base;
  const few = {
    name: `${images} base images, ${100 * share} % of requests`,
    requests: requestsOf(plan, (index) =>
      index < images ? share / images : (1 - share) / (plan.images - images),
    ),
  };
  return [...zipf, few];
}

/**
 * Returns the size of each image in bytes, distributed evenly on a logarithmic scale and independent of its popularity.
 *
 * @param {TracePlan} plan
 */
export function sizesOf({ images, smallest, largest }) {
  const random = seededRandom(1);
  return Array.from({ length: images }, () => {
    return Math.round(smallest * (largest / smallest) ** random());
  });
}

/** @param {TracePlan} plan @param {(index: number) => number} weightOf */
function requestsOf({ images, requests }, weightOf) {
  const sums = /** @type {number[]} */ ([]);
  for (let index = 0; index < images; index += 1) {
    sums.push((sums.at(-1) ?? 0) + weightOf(index));
  }
  const [random, all] = [seededRandom(2), sums.at(-1) ?? 0];
  return Array.from({ length: requests }, () => {
    const at = random() * all;
    return sums.findIndex((sum) => at < sum);
  });
}
