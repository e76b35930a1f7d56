import { HeaderStripper } from "hedgerow";
import { equal } from "../../support/assert.js";
import { MAX_RULE_LENGTH, TOKEN_CHARACTERS } from "../../support/tokens.js";
import type { Cases } from "../case.js";

/** Asserts which of `names` match, twice: cached results are the same. */
function matching(rules: readonly string[], names: readonly string[], expected: readonly string[]) {
  using stripper = new HeaderStripper(rules);
  for (const _ of ["first", "again"]) {
    equal(
      names.filter((name) => stripper.matches(name)),
      expected,
      `names that ${rules} match`,
    );
  }
}

export const matches: Cases = {
  "a name rule matches the name in either case, and no other name": () => {
    matching(
      ["X-Debug"],
      ["x-debug", "X-DEBUG", "x-DeBuG", "x-debu", "x-debugs", "y-debug", "xdebug", "x_debug", ""],
      ["x-debug", "X-DEBUG", "x-DeBuG"],
    );
  },

  "a prefix rule matches the prefix and every longer name": () => {
    const longer = `cf-int-${"a".repeat(70_000)}`;
    matching(
      ["CF-Int-*"],
      ["cf-int-", "CF-INT-BRAND", "cf-int-\u{1f512}", longer, "cf-int", "cf-in-t", "acf-int-", ""],
      ["cf-int-", "CF-INT-BRAND", "cf-int-\u{1f512}", longer],
    );
  },

  "a name cut to the buffer is not completed by bytes of an earlier name": () => {
    const longest = "a".repeat(MAX_RULE_LENGTH);
    // The character that does not fit leaves bytes of the previous name in the buffer.
    matching([`${longest}*`], [`${longest}aa`, `${longest.slice(1)}\u{1f512}`], [`${longest}aa`]);
  },

  "a stripper without rules matches nothing": () => {
    matching([], ["", "a", "connection", "a".repeat(1000)], []);
  },

  "the empty name matches nothing": () => {
    matching(["a", "a*", "~*", "x-internal-*"], [""], []);
  },

  "letters match in either case, and other characters match only themselves": () => {
    for (const rule of TOKEN_CHARACTERS) {
      const same = [...TOKEN_CHARACTERS].filter((c) => c.toLowerCase() === rule.toLowerCase());
      const wrap = (middle: string) => [`x-${middle}-end`, `yx-${middle}-ending`];
      matching(
        [`x-${rule}-end`, `yx-${rule}-end*`],
        [...TOKEN_CHARACTERS].flatMap(wrap),
        same.flatMap(wrap),
      );
    }
  },

  "a stripper distinguishes characters that differ only in the case bit": () => {
    matching(["^"], ["^", "~"], ["^"]);
    matching(["x-^", "x-`"], ["x-^", "x-~", "x-`", "x-@"], ["x-^", "x-`"]);
    matching(["_*", "|*"], ["_a", "\x7fa", "|a", "\\a"], ["_a", "|a"]);
  },

  "names outside ASCII that look or fold like a rule do not match it": () => {
    const lookAlikes = ["\u212a", "\u017f", "x-\u212a", "X\u00ad-k", "\u0161", "\u{1d52}"];
    matching(["k", "s", "x-k*", "a"], lookAlikes, []);
  },

  "a name with a lone surrogate matches only a prefix before it": () => {
    matching(["x-a", "y-*"], ["x-a\ud800", "\udc00", "x-\ud800", "y-\ud800"], ["y-\ud800"]);
  },

  "a name longer than the longest rule matches only prefix rules": () => {
    const longest = "a".repeat(MAX_RULE_LENGTH);
    const longer = ["a", "aa", "b", "\u00e9", "\u20ac", "\u{1f512}", "\ud800", "a\u00e9"];
    // The second rule occupies the slot of names that begin with "a".
    matching(
      [longest, "ab*"],
      longer.map((end) => longest + end),
      [],
    );
    matching(
      [`${longest}*`],
      longer.map((end) => longest + end),
      longer.map((end) => longest + end),
    );
  },

  "a stripper takes any iterable of rules, and ignores duplicates": () => {
    using stripper = new HeaderStripper(new Set(["x-a", "X-A", "x-a*"]).values());
    equal(stripper.matches("x-ab"), true);
  },
};
