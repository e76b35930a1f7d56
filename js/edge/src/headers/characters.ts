/** The two characters by which names are told apart, and where in a name they are. */

/** Rules that are compared to choose places: enough to see how their names are made. */
const SAMPLE = 256;

/** One collision for this many rules is good enough: a chain of two costs little. */
const RULES_PER_COLLISION = 16;

/** Character codes below 256, with ASCII letters in lower case, and `-` for `_` and `.`. */
export const FOLDED = /* @__PURE__ */ foldedCodes();

/** Two places in a name, as 256ths of its length: every name has a character there. */
export type Places = readonly [first: number, second: number];

/** The middle and seven eighths, where names of one length mostly differ. */
export const USUAL: Places = [128, 224];

/** The last place, the first one, and the distance between places to choose from. 255 ends every name of a rule. */
const [LAST, FIRST, STEP] = [255, 63, 16];

/** Combines the characters of a name, of the first `length` characters, at two places. */
export function charactersAt(
  name: string,
  length: number,
  firstPlace: number,
  secondPlace: number,
): number {
  const first = FOLDED[name.charCodeAt((length * firstPlace) >> 8)]!;
  const second = FOLDED[name.charCodeAt((length * secondPlace) >> 8)]!;
  return (first << 7) ^ second;
}

/**
 * Returns the places whose characters, with the length, tell most of `names` apart: the usual ones, unless many names
 * are alike there, such as numbered ones.
 */
export function placesFor(names: readonly string[]): Places {
  const sample = names.slice(0, SAMPLE);
  const collisions = ([first, second]: Places) => {
    const keys = new Set<number>();
    for (const name of sample) {
      keys.add((name.length << 14) ^ charactersAt(name, name.length, first, second));
    }
    return sample.length - keys.size;
  };
  let best = USUAL;
  let fewest = collisions(best);
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

function foldedCodes(): Uint8Array {
  const codes = new Uint8Array(256);
  for (let code = 0; code < 256; code += 1) {
    codes[code] = code >= 65 && code <= 90 ? code + 32 : code;
  }
  codes[46] = codes[95] = 45;
  return codes;
}
