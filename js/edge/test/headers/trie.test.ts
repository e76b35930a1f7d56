import { HeaderStripper, HedgerowError, preset } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { describe, expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";
import { bytesOf, textOf } from "../../../../tests/support/text.js";
import { isToken, TOKEN_CHARACTERS } from "../../../../tests/support/tokens.js";
import { trials } from "../../../../tests/support/trials.js";
import { blockModule } from "../support/bundle.js";
import { options, rulesAndFieldNames } from "../support/generate.js";
import { folded } from "../support/oracle.js";
import { Random } from "../support/random.js";

const NAMES_OF_EACH_SET = trials({ few: 40_000, all: 400_000 });
/** Names that are decided in one block. */
const NAMES_OF_A_BLOCK = 1000;

const random = new Random(20_260_401);
const many = (count: number, rule: (number: number) => string) =>
  Array.from({ length: count }, (_, number) => rule(number));

const RULE_SETS: Record<string, string[]> = {
  "no rule": [],
  "one name": ["x-internal-token"],
  "one prefix": ["cf-int-*"],
  "all presets": (["hop-by-hop-reframed", "cloudflare", "vercel", "next"] as const).flatMap(
    (name) => preset(name),
  ),
  "short names": many(60, () => random.text("ab^~-_", 1 + random.below(4))),
  "many names": many(2000, (number) => `x-internal-${number.toString(36)}`),
  "names and prefixes of every length": many(300, (number) => {
    const text = random.text(TOKEN_CHARACTERS, 1 + random.below(256));
    return number % 10 === 0 ? `xy${text.slice(0, 254)}*` : text;
  }),
};

/** A name of any length, or a rule's name with at most one edit. */
function anyName(texts: readonly string[]): string {
  const near = random.below(4) === 0 ? undefined : random.pick(texts);
  if (near === undefined) return random.text(TOKEN_CHARACTERS, random.below(24));
  const at = random.below(near.length + 1);
  switch (random.below(7)) {
    case 0:
      return near;
    case 1:
      return near.toUpperCase();
    case 2:
      return near.slice(0, at) + random.pick(TOKEN_CHARACTERS) + near.slice(at + 1);
    case 3:
      return near.slice(0, at) + random.pick(TOKEN_CHARACTERS) + near.slice(at);
    case 4:
      return near.slice(0, at) + near.slice(at + 1);
    case 5:
      return near.replace(/[-_.]/g, () => random.pick("-_."));
    default:
      return near + random.text(TOKEN_CHARACTERS, random.below(12));
  }
}

/** Returns the names that a block stripper, which looks them up in the trie, keeps. */
function keptByTrie(stripper: HeaderStripper, names: readonly string[]): string[] {
  // A value that is not a token nominates nothing.
  const lines = names.map((name, index) => `${name}:(${index})\r\n`);
  const kept = textOf(stripBlock(stripper, bytesOf(lines.join(""))));
  return [...kept.matchAll(/\((\d+)\)/g)].map(([, index]) => names[Number(index)]!);
}

/** Fields that may come once in a block. */
const FRAMING = new Set(["content-length", "transfer-encoding"]);

describe("JavaScript decides many random names as the trie does", () => {
  test.for(Object.entries(RULE_SETS))("%s", ([, rules]) => {
    using stripper = new HeaderStripper(rules);
    const texts = ["accept", "x-internal-", ...rules].map((rule) => rule.replace("*", ""));
    let matching = 0;
    for (let count = 0; count < NAMES_OF_EACH_SET; count += NAMES_OF_A_BLOCK) {
      const names = Array.from({ length: NAMES_OF_A_BLOCK }, () => anyName(texts)).filter(
        (name) => name !== "" && !FRAMING.has(name.toLowerCase()),
      );
      const kept = names.filter((name) => !stripper.matches(name));
      expect(kept).toEqual(keptByTrie(stripper, names));
      matching += names.length - kept.length;
    }
    expect(matching > 0).toBe(rules.length > 0);
  });
});

test("JavaScript decides the names of any rules as the trie does, whatever the options", () => {
  const property = fc.property(rulesAndFieldNames, options, ({ rules, names }, options) => {
    using stripper = new HeaderStripper(rules, options);
    const valid = names.filter((name) => isToken(name) && !FRAMING.has(name.toLowerCase()));
    const kept = valid.filter((name) => !stripper.strips(name));
    expect(keptByTrie(stripper, valid)).toEqual(kept);
  });
  fc.assert(property, { numRuns: trials({ few: 500, all: 2_000 }) });
});

test("a set whose rules share a slot matches exactly these rules", () => {
  // The same length: two characters tell at most a hundred of them apart.
  const exact = many(1000, (number) => `x-${String(number).padStart(4, "0")}-aaaa-aa`);
  const prefixes = many(200, (number) => `y-${String(number).padStart(4, "0")}-*`);
  using stripper = new HeaderStripper([...exact, ...prefixes]);
  const others = many(1000, (number) => `x-${number + 1000}-aaaa-aa`);
  const longer = prefixes.map((prefix) => prefix.replace("*", "any").toUpperCase());
  const names = [...exact, ...others, ...longer, "y-0200-any", "y-019"];
  const matching = names.filter((name) => stripper.matches(name));
  expect(matching).toEqual([...exact, ...longer]);
  const kept = names.filter((name) => !stripper.matches(name));
  expect(keptByTrie(stripper, names)).toEqual(kept);
});

test("JavaScript accepts the same rules as the crate", () => {
  const { exports } = blockModule;
  const stripper = exports.blockstripper_new(0, 0);
  const inCrate = (rule: string) => {
    const bytes = new TextEncoder().encode(rule);
    const start = exports.blockstripper_reserve(stripper, bytes.length);
    blockModule.memory().set(bytes, start);
    return Boolean(exports.blockstripper_add(stripper, bytes.length));
  };
  const inJavaScript = (rule: string) => {
    try {
      new HeaderStripper([rule]);
      return true;
    } catch (error) {
      if (error instanceof HedgerowError && error.code === "ERR_HEADER_RULE") return false;
      throw error;
    }
  };
  const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code));
  const rules = [
    ...characters.flatMap((character) => [character, `x${character}y`, `x-${character}*`]),
    ...[255, 256, 257].flatMap((length) => ["x".repeat(length), `${"x".repeat(length)}*`]),
    ...many(3_000, () => {
      const rule = random.text(TOKEN_CHARACTERS, random.below(300)) + random.text("*a", 1);
      const at = random.below(rule.length);
      return random.below(2) === 0 ? rule : `${rule.slice(0, at)}\u212a${rule.slice(at)}`;
    }),
  ];
  const accepted = rules.filter(inJavaScript);
  expect(accepted).toEqual(rules.filter(inCrate));
  expect(accepted.length).toBeGreaterThan(1_000);
  exports.__wbg_blockstripper_free(stripper, 0);
});

test("only equivalent characters equal one: no others with the same low bits", () => {
  const rule = `${TOKEN_CHARACTERS.toLowerCase().replace("*", "")}`;
  using exact = new HeaderStripper([rule]);
  using prefix = new HeaderStripper([`${rule}*`]);
  const wrong: string[] = [];
  for (let at = 0; at < rule.length; at += 1) {
    const code = rule.charCodeAt(at);
    // KELVIN SIGN, I WITH DOT ABOVE, LONG S and DOTLESS I become ASCII letters in other case.
    const alike = [
      0x2d,
      0x2e,
      0x5f,
      code ^ 0x20,
      code ^ 0x80,
      code | 0x100,
      code | 0x200,
      code << 8,
      code | 0xff00,
    ];
    for (const other of [...alike, 0x212a, 0x130, 0x17f, 0x131]) {
      const name = rule.slice(0, at) + String.fromCharCode(other) + rule.slice(at + 1);
      const expected = folded(String.fromCharCode(other)) === folded(rule[at]!);
      for (const one of [exact, prefix]) if (one.matches(name) !== expected) wrong.push(name);
    }
  }
  expect(wrong).toEqual([]);
});
