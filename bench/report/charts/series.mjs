// The lines of a chart: what each method took at each place, and how its line looks.
import { divided, outcomes } from "../comparison.mjs";
import { plain } from "../say.mjs";
import { LINES, OUR_LINE, OWN_LINES } from "./theme.mjs";

/** @typedef {import("../comparison.mjs").Comparison} Comparison */
/** @typedef {import("../comparison.mjs").Method} Method */
/** @typedef {import("../figures.mjs").Figures} Figures */

/** A comparison, and where it stands across. @typedef {Comparison & { at: number }} Place */

/** @typedef {{ at: number, value: number, min: number, max: number }} Point */

/** What a method took, and how many times ours at the last of its places. @typedef {{ says: string, kind: Method["kind"], points: Point[], times: number }} Series */

/** @typedef {Series & { colour: string, shape: string, dash: number[] }} Line */

/** @param {Figures} figures @param {Place[]} places @param {number} divide @returns {Series[]} */
export function linesOf(figures, places, divide) {
  /** @type {Map<string, Series>} */
  const found = new Map();
  for (const place of places) {
    for (const { says, kind, result, times } of outcomes(figures, place)) {
      const { median, min, max } = divided(result, divide);
      const before = found.get(says)?.points ?? [];
      const points = [...before, { at: place.at, value: median, min, max }];
      found.set(says, { says: plain(says), kind, points, times });
    }
  }
  return [...found.values()];
}

/**
 * Lines from end to end, for what does not depend on the places.
 *
 * @param {{ says: string, value: number }[]} beside
 * @param {Place[]} places
 * @param {number} divide
 * @returns {Series[]}
 */
export function besideOf(beside, places, divide) {
  const ends = [places[0], places.at(-1)].flatMap((place) => place?.at ?? []);
  return beside.map(({ says, value }) => {
    const [own, kind] = [value / divide, /** @type {const} */ ("rival")];
    const points = ends.map((at) => ({ at, value: own, min: own, max: own }));
    return { says: plain(says), kind, points, times: Number.NaN };
  });
}

/** Gives lines that have points their looks, in turn. @param {Series[]} all @returns {Line[]} */
export function styled(all) {
  const drawn = all.filter(({ points }) => points.length > 0);
  const own = drawn.filter(({ kind }) => kind === "own");
  const rivals = drawn.filter(({ kind }) => kind === "rival");
  return drawn.map((line) => {
    const [looks, index] =
      line.kind === "own" ? [OWN_LINES, own.indexOf(line)] : [LINES, rivals.indexOf(line)];
    const look = line.kind === "ours" ? OUR_LINE : looks[index % looks.length];
    return { ...line, ...(look ?? OUR_LINE) };
  });
}
