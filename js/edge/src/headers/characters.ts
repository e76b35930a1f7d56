/** The two characters by which names are told apart, and where in a name they are. */

/** Rules that are compared to choose places: enough to see how their names are made. */
const SAMPLE = 256;

/** The usual places are good enough up to one collision for this many rules: a chain of two costs little. */
const USUAL_RULES_PER_COLLISION = 4;

/** Other places are good enough up to one collision for this many rules. */
const RULES_PER_COLLISION = 16;

/** Character codes below 256, with ASCII letters in lower case, and `-` for `_` and `.`. */
export const FOLDED = /* @__PURE__ */ Uint8Array.from({ length: 256 }, (_, code) =>
  code === 0x2e || code === 0x5f ? 0x2d : code >= 0x41 && code <= 0x5a ? code | 0x20 : code,
);

/** Returns a name in lower case with `-` for `_` and `.`. */
export const folded = (lower: string) => lower.replace(/[._]/g, "-");

/** Two places in a name, as 256ths of its length: every name has a character there. */
export type Places = readonly [first: number, second: number];

/**
 * The middle and seven eighths, where names of one length mostly differ. Places near the end would tell more rules
 * apart, but messages have many names with the endings of rules.
 */
export const USUAL: Places = [128, 224];

/** The last place, the first one, and the distance between places to choose from. 255 ends every name of a rule. */
const [LAST, FIRST, STEP] = [255, 63, 16];

/** Combines the characters of a name, of the first `length` characters, at two places. Equivalent names have the same. */
export function charactersAt(
  name: string,
  length: number,
  firstPlace: number,
  secondPlace: number,
): number {
  return (
    (codeAt(name, (length * firstPlace) >> 8) << 7) ^ codeAt(name, (length * secondPlace) >> 8)
  );
}

/** Returns a code that equivalent characters share: faster than `FOLDED`, which keeps more characters apart. */
function codeAt(name: string, at: number): number {
  // The bit 0x20 is the case of a letter, and makes "_" 0x7f.
  const code = name.charCodeAt(at) | 0x20;
  return code === 0x2e || code === 0x7f ? 0x2d : code;
}

/**
 * Returns the places whose characters, with the length, tell most of `names` apart: the usual ones, unless many names
 * are alike there, such as numbered ones.
 */
export function placesFor(names: readonly string[]): Places {
  const sample = names.slice(0, SAMPLE);
  const collisions = ([first, second]: Places) => {
    const keys = sample.map(
      (name) => (name.length << 14) ^ charactersAt(name, name.length, first, second),
    );
    return sample.length - new Set(keys).size;
  };
  let best = USUAL;
  let fewest = collisions(best);
  if (fewest * USUAL_RULES_PER_COLLISION <= sample.length) return best;
  for (let first = LAST; first >= FIRST; first -= STEP) {
    for (let second = first - STEP; second >= FIRST; second -= STEP) {
      if (fewest * RULES_PER_COLLISION <= sample.length) return best;
      const count = collisions([first, second]);
      if (count < fewest) {
        fewest = count;
        best = [first, second];
      }
    }
  }
  return best;
}
