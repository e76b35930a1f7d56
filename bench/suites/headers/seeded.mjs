// Workloads that nobody has tuned for: everything that `corpora/headers` fixes is drawn from a seed. Rules and the names
// of an application are made of invented words, so that many share beginnings and lengths.
import { HeaderStripper } from "hedgerow";

import { Choices, externalNames, variant } from "../../../scripts/lib/corpus.mjs";
import { measure } from "../../harness/measure.mjs";
import { resultsOf } from "../../harness/results.mjs";
import { methods, writtenAs } from "./methods.mjs";

/** Requests per workload. */
const REQUESTS = 512;

const CONSONANTS = [..."bcdfghjklmnprstvwxz"];
const VOWELS = [..."aeiou"];

/** The methods that are compared. */
const COMPARED = ["hedgerow", "tolowercase-set"];

/**
 * Rules, which may be prefixes, and requests.
 *
 * @typedef {{ rules: string[], prefixes: string[], requests: { names: string[] }[] }} Workload
 */

/** Returns the workload of a seed. @param {number} seed @returns {Workload} */
export function seededWorkload(seed) {
  const choices = new Choices(seed);
  const syllable = () => choices.one(CONSONANTS) + choices.one(VOWELS);
  const word = () => Array.from({ length: choices.between(1, 4) }, syllable).join("");
  const words = Array.from({ length: choices.between(20, 60) }, word);
  const vendors = Array.from({ length: choices.between(2, 6) }, () => `x-${choices.one(words)}`);
  const isNumbered = choices.between(1, 3) === 1;
  const invented = (/** @type {unknown} */ _, /** @type {number} */ index) => {
    const parts = choices.some(words, choices.between(1, 3));
    if (isNumbered) parts.splice(1, Infinity, `${index}`, "id");
    return [choices.one(vendors), ...parts].join("-");
  };
  const names = new Set(Array.from({ length: choices.between(20, 400) }, invented));
  const [rules, own] = [[...names].slice(10), [...names].slice(0, 10)];
  const prefixes = Array.from({ length: choices.between(0, 4) }, () => `x-${word()}${word()}-`);
  const [internal, near] = [choices.between(0, 15), choices.between(0, 35)];
  const writing = choices.one(Object.values(writtenAs));
  const others = [...externalNames(), ...own];
  const name = () => {
    const percent = choices.between(1, 100);
    if (percent <= internal) return choices.one(rules);
    return percent <= internal + near ? variant(choices.one(rules), choices) : choices.one(others);
  };
  const requests = Array.from({ length: REQUESTS }, () =>
    writing({ names: Array.from({ length: choices.between(10, 30) }, name) }),
  );
  return { rules, prefixes, requests };
}

/**
 * Measures the workloads of seeds from 1, and returns the results of two: those where the lead over `toLowerCase` and a
 * `Set` is least, and where it is the median.
 *
 * @param {{ suite: string, unit: string }} about
 * @param {number} seeds
 * @param {number} rounds
 */
export async function measureSeeded(about, seeds, rounds) {
  const measured = [];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { rules, prefixes, requests } = seededWorkload(seed);
    const stripper = new HeaderStripper([...rules, ...prefixes.map((prefix) => `${prefix}*`)]);
    const all = methods(rules, stripper, stripper, stripper, prefixes).raw;
    const compared = all.filter(({ name }) => COMPARED.includes(name));
    const timed = await measure(compared, requests, rounds);
    const [ours = 1, theirs = 0] = timed.map(({ samples }) => Math.min(...samples));
    measured.push({ seed, timed, lead: theirs / ours });
  }
  measured.sort((a, b) => a.lead - b.lead);
  const chosen = { worst: measured[0], median: measured[measured.length >> 1] };
  return Object.entries(chosen).flatMap(([name, one]) => {
    if (one === undefined) return [];
    const workload = `${name} of ${seeds} seeds`;
    return resultsOf({ ...about, workload }, one.timed, (sample) => sample, { seed: one.seed });
  });
}
