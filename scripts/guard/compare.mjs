// Comparing figures with those that were recorded. Less is better, of all of them.

/** By how much a figure may differ, either way. */
export const TOLERANCE = 0.03;

/** @typedef {Record<string, number>} Figures by what they are of */
/** @typedef {"worse" | "better" | "new" | "gone"} Verdict */
/** @typedef {{ name: string, recorded: number | undefined, found: number | undefined, verdict: Verdict }} Difference */

/**
 * The figures that differ by more than is tolerated, and those that only one side has.
 *
 * @param {Figures} recorded
 * @param {Figures} found
 * @returns {Difference[]}
 */
export function differences(recorded, found) {
  const names = new Set([...Object.keys(recorded), ...Object.keys(found)]);
  return [...names].flatMap((name) => {
    const [then, now] = [recorded[name], found[name]];
    const verdict = judged(then, now);
    return verdict === undefined ? [] : [{ name, recorded: then, found: now, verdict }];
  });
}

/**
 * @param {number | undefined} recorded
 * @param {number | undefined} found
 * @returns {Verdict | undefined}
 */
function judged(recorded, found) {
  if (recorded === undefined) return "new";
  if (found === undefined) return "gone";
  if (Math.abs(found - recorded) <= TOLERANCE * recorded) return undefined;
  return found > recorded ? "worse" : "better";
}

/**
 * What to record when all of `found` is accepted. What is within the tolerance stays as it was: many
 * small losses in a row must come to light as one.
 *
 * @param {Figures} recorded
 * @param {Figures} found
 * @returns {Figures}
 */
export function accepted(recorded, found) {
  const differing = new Set(differences(recorded, found).map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(found).map(([name, now]) => [
      name,
      differing.has(name) ? now : (recorded[name] ?? now),
    ]),
  );
}

/**
 * What is told of differences, and of what else differs between here and where the record was made.
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
    `not as bench/guard/record.json has it, by more than ${percent} %:`,
    ...found.map((difference) => `  ${line(difference)}`),
    ...(onlyBetter ? ["all of it is better; the record has to say so"] : []),
    ...others.map(([name, value]) => `this is ${name} ${value}, recorded with ${recordedOn[name]}`),
    "if that is meant: npm run guard -- --accept",
  ].join("\n");
}

/** @param {Difference} difference */
function line({ name, recorded, found, verdict }) {
  const [then, now] = [recorded, found].map((figure) => figure?.toLocaleString("en") ?? "nothing");
  const ratio =
    recorded === undefined || found === undefined ? "" : ` (${(found / recorded).toFixed(3)} ×)`;
  return `${name}: ${now}, recorded ${then}${ratio}: ${verdict}`;
}
