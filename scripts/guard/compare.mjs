// Compares figures with recorded ones. Less is better for all of them.

/** Maximum relative difference, in either direction. */
export const TOLERANCE = 0.03;

/** @typedef {Record<string, number>} Figures by name */
/** @typedef {"worse" | "better" | "new" | "gone"} Verdict */
/** @typedef {{ name: string, recorded: number | undefined, found: number | undefined, verdict: Verdict }} Difference */

/**
 * Returns the figures that differ by more than the tolerance, and those on one side only.
 *
 * @param {Figures} recorded
 * @param {Figures} found
 * @returns {Difference[]}
 */
export function differences(recorded, found) {
  const names = new Set([...Object.keys(recorded), ...Object.keys(found)]);
  return [...names].flatMap((name) => {
    const figures = { recorded: recorded[name], found: found[name] };
    const verdict = verdictOn(figures);
    return verdict === undefined ? [] : [{ name, ...figures, verdict }];
  });
}

/** @param {Omit<Difference, "name" | "verdict">} figures @returns {Verdict | undefined} */
function verdictOn({ recorded, found }) {
  if (recorded === undefined) return "new";
  if (found === undefined) return "gone";
  if (Math.abs(found - recorded) <= TOLERANCE * recorded) return undefined;
  return found > recorded ? "worse" : "better";
}

/**
 * Returns the new record. A figure within the tolerance keeps its recorded value: small losses add up until they are
 * found.
 *
 * @param {Figures} recorded
 * @param {Figures} found
 * @returns {Figures}
 */
export function accepted(recorded, found) {
  const differing = new Set(differences(recorded, found).map(({ name }) => name));
  const kept = Object.entries(recorded).filter(([name]) => name in found && !differing.has(name));
  return { ...found, ...Object.fromEntries(kept) };
}

/**
 * Describes the differences, and how this machine differs from the one of the record.
 *
 * @param {Difference[]} found
 * @param {Record<string, string>} recordedOn
 * @param {Record<string, string>} here
 */
export function explain(found, recordedOn, here) {
  const others = Object.entries(here).filter(([name, value]) => recordedOn[name] !== value);
  const percent = TOLERANCE * 100;
  const onlyBetter = found.every(({ verdict }) => verdict === "better");
  return [
    `figures differ from bench/guard/record.json by more than ${percent} %:`,
    ...found.map((difference) => `  ${line(difference)}`),
    ...(onlyBetter ? ["all of them are better; record them, or a later loss goes unnoticed"] : []),
    ...others.map(([name, value]) => `this is ${name} ${value}, recorded with ${recordedOn[name]}`),
    "if this is intended, run npm run guard -- --accept",
  ].join("\n");
}

/** @param {Difference} difference */
function line({ name, recorded, found, verdict }) {
  const [then, now] = [recorded, found].map((figure) => figure?.toLocaleString("en") ?? "nothing");
  const ratio =
    recorded === undefined || found === undefined ? "" : ` (${(found / recorded).toFixed(3)} ×)`;
  return `${name}: ${now}, recorded ${then}${ratio}: ${verdict}`;
}
