/** Generators of rules and of names similar to them. */
import type { HeaderStripperOptions } from "hedgerow";
import fc, { type Arbitrary } from "../../../../tests/support/fast-check.js";
import { MAX_RULE_LENGTH, TOKEN_CHARACTERS } from "../../../../tests/support/tokens.js";

/** Rules, and names to match against them. */
export interface RulesAndNames {
  rules: string[];
  names: string[];
}

const characters = (alphabet: string, minLength: number, maxLength: number): Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });

/** Any UTF-16 code unit, including lone surrogates. */
const codeUnit = fc.oneof(
  fc.constantFrom(...TOKEN_CHARACTERS),
  fc.constantFrom(
    "\u212a",
    "\u017f",
    "\ufeff",
    "\u00e9",
    "\ud83d",
    "\udd12",
    "\0",
    "@",
    "\\",
    "\x7f",
    "*",
  ),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
);

/** Field names that platforms or stripping treat specially. */
const specialName = fc.constantFrom(
  ...["connection", "Connection", "keep-alive", "accept", "upgrade", "set-cookie", "Set-Cookie"],
  ...["Content-Length", "transfer-encoding", "host", "te", "X-Forwarded-For"],
  ...["keep_alive", "Content_Length", "X-Forwarded.For"],
);

/** A field name that is a token. */
const token: Arbitrary<string> = fc.oneof(
  characters("abAB-^~_.|", 1, 5),
  characters(`${TOKEN_CHARACTERS}*`, 1, 40),
  specialName,
);

const ruleText = fc.oneof(
  { weight: 4, arbitrary: characters("abAB-^~_.|", 1, 6) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom("x-", "X-Internal-", "cf-int-", "x-a-beginning-that-many-share-"),
        characters(TOKEN_CHARACTERS, 0, 12),
      )
      .map((parts) => parts.join("")),
  },
  {
    weight: 2,
    arbitrary: characters("abAB", 3, 3).map((s) => `x-twins-${s}-that-only-differ-between`),
  },
  { weight: 1, arbitrary: specialName },
  { weight: 1, arbitrary: characters(TOKEN_CHARACTERS, 1, MAX_RULE_LENGTH) },
  { weight: 1, arbitrary: characters("ab", MAX_RULE_LENGTH - 2, MAX_RULE_LENGTH) },
);

const rule = fc
  .tuple(ruleText, fc.constantFrom("", "", "", "*"))
  .map(([text, star]) => text + star);

const anyName = fc.oneof(
  fc.string({ unit: codeUnit, maxLength: 40 }),
  characters(TOKEN_CHARACTERS, 0, 300),
  token,
);

/** An edit of one character or of the end of a string, or none. */
const edit: Arbitrary<(text: string) => string> = fc
  .tuple(
    fc.constantFrom(
      ...["nothing", "replace", "flip the case bit", "insert", "remove", "cut", "append"],
      ...["respell", "respell"],
    ),
    fc.nat(),
    codeUnit,
    anyName,
  )
  .map(([kind, number, unit, rest]) => (text) => {
    const at = number % text.length;
    const [before, here, after] = [text.slice(0, at), text.charCodeAt(at), text.slice(at + 1)];
    if (kind === "replace") return before + unit + after;
    if (kind === "flip the case bit") return before + String.fromCharCode(here ^ 0x20) + after;
    if (kind === "insert") return before + unit + text.slice(at);
    if (kind === "remove") return before + after;
    if (kind === "cut") return before;
    if (kind === "respell") {
      return text.replace(
        /[-_.]/g,
        (_, mark: number) => "-_.-"[(number >> (2 * (mark % 15))) & 3]!,
      );
    }
    return kind === "append" ? text + rest : text;
  });

/** Returns a string with the case of the letters flipped whose position modulo 32 is set in `capitals`. */
function capitalized(text: string, capitals: number): string {
  return text.replace(/[a-z]/gi, (letter, at: number) =>
    (capitals >>> (at % 32)) & 1 ? String.fromCharCode(letter.charCodeAt(0) ^ 0x20) : letter,
  );
}

/** Options of a stripper: the defaults, rules of exact spelling, and an allow-list. */
export const options = fc.constantFrom<HeaderStripperOptions>(
  ...[{}, { spelling: "exact" as const }, { mode: "keep" as const }],
);

/** Rules of every form, and names that mostly differ from a rule by at most one edit. */
export const rulesAndNames: Arbitrary<RulesAndNames> = fc
  .record({
    rules: fc.array(rule, { maxLength: 24 }),
    edits: fc.array(fc.tuple(fc.nat(), edit, fc.integer()), { maxLength: 40, size: "max" }),
    others: fc.array(anyName, { maxLength: 8 }),
  })
  .map(({ rules, edits, others }) => {
    const near = edits.flatMap(([number, change, capitals]) => {
      const text = rules[number % rules.length]?.replace(/\*$/, "");
      return text === undefined ? [] : [capitalized(change(text), capitals)];
    });
    return { rules, names: [...near, ...others] };
  });

/** The same, with half of the rule lists matching `Connection`. */
export const rulesAndFieldNames: Arbitrary<RulesAndNames> = fc
  .tuple(rulesAndNames, fc.array(token, { maxLength: 12 }), fc.boolean())
  .map(([{ rules, names }, tokens, stripsConnection]) => ({
    rules: stripsConnection ? [...rules, "connection"] : rules,
    names: [...names, ...tokens],
  }));

/**
 * A value for each of `names`: free text, or a list of connection options, many of
 * which are one of the names.
 *
 * @param unit the characters of free text
 */
export function valuesFor(names: readonly string[], unit: Arbitrary<string>): Arbitrary<string[]> {
  const option = fc.oneof(
    token,
    fc.constantFrom("a b", "@", "", "trailers", ...names.slice(0, 20)),
  );
  const options = fc
    .tuple(fc.array(option, { maxLength: 5 }), fc.constantFrom(",", " ,\t", ", "))
    .map(([list, separator]) => list.join(separator));
  const value = fc.oneof(fc.string({ unit, maxLength: 12 }), options);
  return fc.array(value, { minLength: names.length, maxLength: names.length, size: "max" });
}

/** Any character of one byte that is valid in a field value. */
export const byteOfValue: Arbitrary<string> = fc
  .integer({ min: 1, max: 0xff })
  .map((code) => String.fromCharCode(code))
  .filter((character) => !"\r\n".includes(character));

export { codeUnit };
