// Where Hedgerow loses: every rival with a better figure, by however little.
import { outcomes } from "./comparison.mjs";
import { ratio } from "./format.mjs";

/** @typedef {import("./comparison.mjs").Comparison} Comparison */
/** @typedef {import("./figures.mjs").Figures} Figures */

/** A rival ahead in more places gets a range; tables have each ratio in bold. */
const MAX_PLACES = 2;

/** @param {Figures} figures @param {Comparison[]} comparisons */
export function lossesOf(figures, comparisons) {
  /** @type {Map<string, { place: string, times: number }[]>} */
  const ahead = new Map();
  /** @type {Map<string, number>} */
  const compared = new Map();
  for (const comparison of comparisons) {
    for (const { label, kind, times, ahead: wins } of outcomes(figures, comparison)) {
      if (kind !== "rival") continue;
      compared.set(label, (compared.get(label) ?? 0) + 1);
      const place = comparison.place ?? comparison.title;
      if (wins) ahead.set(label, [...(ahead.get(label) ?? []), { place, times }]);
    }
  }
  if (compared.size === 0) return "**Where it loses.** No rival is in this record.\n";
  if (ahead.size === 0) return "**Where it loses.** Nowhere in this record.\n";
  const lines = [...ahead].map(([label, places]) => {
    return `- ${label}: ${placesOf(places, compared.get(label) ?? 0)}\n`;
  });
  return `**Where it loses.**\n\n${lines.join("")}`;
}

/** @param {{ place: string, times: number }[]} places @param {number} compared */
function placesOf(places, compared) {
  if (places.length <= MAX_PLACES) {
    return places.map(({ place, times }) => `${ratio(times)} (${place})`).join(", ");
  }
  const all = places.map(({ times }) => times).toSorted((a, b) => a - b);
  const range = `${ratio(all[0] ?? Number.NaN)} to ${ratio(all.at(-1) ?? Number.NaN)}`;
  return `in ${places.length} of ${compared} cases, ${range}`;
}
