// Where Hedgerow loses: every rival with a better figure, by however little.
import { outcomes } from "./comparison.mjs";
import { ratio } from "./format.mjs";

/** @typedef {import("./comparison.mjs").Comparison} Comparison */
/** @typedef {import("./figures.mjs").Figures} Figures */

/** A rival ahead in more places gets a range; tables have each ratio in bold. */
const MAX_PLACES = 2;

/** @param {Figures} figures @param {Comparison[]} comparisons */
export function lossesOf(figures, comparisons) {
  const rivals = comparisons.flatMap((comparison) =>
    outcomes(figures, comparison)
      .filter(({ kind }) => kind === "rival")
      .map((outcome) => ({ ...outcome, place: comparison.place ?? comparison.title })),
  );
  const losses = rivals.filter(({ ahead }) => ahead);
  if (rivals.length === 0) return "**Where it loses.** No rival is in this record.\n";
  if (losses.length === 0) return "**Where it loses.** Nowhere in this record.\n";
  const lines = [...new Set(losses.map(({ label }) => label))].map((label) => {
    const [lost, compared] = [losses, rivals].map((all) =>
      all.filter((one) => one.label === label),
    );
    return `- ${label}: ${placesOf(lost ?? [], compared?.length ?? 0)}\n`;
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
