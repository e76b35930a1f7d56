// Where Hedgerow loses: every rival of a record that is ahead, whatever we think of it.
import { outcomes } from "./comparison.mjs";
import { ratio } from "./say.mjs";

/** @typedef {import("./comparison.mjs").Comparison} Comparison */
/** @typedef {import("./figures.mjs").Figures} Figures */

/** More places than these are told by the least and the most. */
const MOST_PLACES = 4;

/** @param {Figures} figures @param {Comparison[]} comparisons */
export function lossesOf(figures, comparisons) {
  /** @type {Map<string, { place: string, times: number }[]>} */
  const ahead = new Map();
  /** @type {Map<string, number>} */
  const tried = new Map();
  for (const comparison of comparisons) {
    for (const { says, kind, times, ahead: wins } of outcomes(figures, comparison)) {
      if (kind !== "rival") continue;
      tried.set(says, (tried.get(says) ?? 0) + 1);
      const place = comparison.place ?? comparison.title;
      if (wins) ahead.set(says, [...(ahead.get(says) ?? []), { place, times }]);
    }
  }
  if (tried.size === 0) return "**Where it loses.** No rival is in this record.\n";
  if (ahead.size === 0) return "**Where it loses.** Nowhere: no rival of this record is ahead.\n";
  const lines = [...ahead].map(([says, places]) => {
    return `- ${says}: ${placesOf(places, tried.get(says) ?? 0)}\n`;
  });
  return `**Where it loses.** Ahead of Hedgerow, by how many times its figure:\n\n${lines.join("")}`;
}

/** @param {{ place: string, times: number }[]} places @param {number} tried */
function placesOf(places, tried) {
  if (places.length <= MOST_PLACES) {
    return places.map(({ place, times }) => `${ratio(times)} (${place})`).join(", ");
  }
  const all = places.map(({ times }) => times).toSorted((a, b) => a - b);
  const range = `${ratio(all[0] ?? Number.NaN)} to ${ratio(all.at(-1) ?? Number.NaN)}`;
  return `in ${places.length} of ${tried} cases, ${range}`;
}
