import { HeaderStripper, preset } from "hedgerow";
import { describe, expect, test } from "vitest";
import { TOKEN_CHARACTERS } from "../../../../tests/support/tokens.js";
import { Random } from "../support/random.js";
import { UnprobedSet } from "../support/wasm.js";

const NAMES_OF_EACH_SET = 400_000;

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
  "short names": many(60, () => random.text("ab^~-", 1 + random.below(4))),
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
  switch (random.below(6)) {
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
    default:
      return near + random.text(TOKEN_CHARACTERS, random.below(12));
  }
}

describe("the probe agrees with Rust on millions of random names", () => {
  test.for(Object.entries(RULE_SETS))("%s", ([, rules]) => {
    using stripper = new HeaderStripper(rules);
    const unprobed = new UnprobedSet(rules);
    const texts = ["accept", "x-internal-", ...rules].map((rule) => rule.replace("*", ""));
    const wrong: string[] = [];
    let matching = 0;
    for (let count = 0; count < NAMES_OF_EACH_SET; count += 1) {
      const name = anyName(texts);
      const expected = unprobed.matches(name);
      if (expected) matching += 1;
      if (stripper.matches(name) !== expected) wrong.push(name);
    }
    unprobed.free();
    expect(wrong).toEqual([]);
    expect(matching > 0).toBe(rules.length > 0);
  });
});
