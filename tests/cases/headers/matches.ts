import { HeaderStripper } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { equal } from "../../support/assert.js";
import { bytesOf, textOf } from "../../support/text.js";
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
      ["x-debug", "X-DEBUG", "x-DeBuG", "x-debu", "x-debugs", "y-debug", "xdebug", "x~debug", ""],
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

  "a rule matches every equivalent spelling of its name": () => {
    const rules = ["x-internal-user", "X_Trace.*"];
    const spellings = (text: string): string[] =>
      [...text].reduce<string[]>(
        (all, c) => all.flatMap((one) => (c === "-" ? [..."-_."] : [c]).map((mark) => one + mark)),
        [""],
      );
    const names = ["x-internal-user", "X-INTERNAL-USER", "x-trace-id", "x-trace-"].flatMap(
      spellings,
    );
    matching(rules, [...names, "x_internal", "x~internal~user", "x_trace", "x-tracer"], names);
    using stripper = new HeaderStripper(rules);
    const kept = ["x-internal-users", "1", "x+internal-user", "2"];
    equal(stripper.stripRaw([...names.flatMap((name) => [name, "a"]), ...kept]), kept);
    const lines = (list: readonly string[]) => list.map((name) => `${name}: a\r\n`).join("");
    const block = bytesOf(`${lines(names)}x+internal-user: 2\r\n`);
    equal(textOf(stripBlock(stripper, block)), "x+internal-user: 2\r\n");
    const headers = new Headers(names.map((name) => [name, "a"] as [string, string]));
    headers.set("x+internal-user", "2");
    // `Headers` counts names in lower case.
    equal(stripper.strip(headers), new Set(names.map((name) => name.toLowerCase())).size);
    equal([...headers.keys()], ["x+internal-user"]);
  },

  "a rule of exact spelling matches no other spelling": () => {
    using exact = new HeaderStripper(["x-internal-user", "x_trace.*"], { spelling: "exact" });
    const names = ["X-Internal-User", "x_internal_user", "X_Trace.Id", "x-trace-id"];
    equal(
      names.filter((name) => exact.matches(name)),
      ["X-Internal-User", "X_Trace.Id"],
    );
    const block = bytesOf("x-internal-user: 1\r\nx_internal-user: 2\r\n");
    equal(textOf(stripBlock(exact, block)), "x_internal-user: 2\r\n");
    const raw = ["x-internal-user", "1", "x.internal-user", "2"];
    equal(exact.stripRaw(raw), ["x.internal-user", "2"]);
  },

  "letters match in either case, and other characters only themselves and equivalent ones": () => {
    const folded = (c: string) => c.toLowerCase().replace(/[._]/, "-");
    for (const rule of TOKEN_CHARACTERS) {
      const same = [...TOKEN_CHARACTERS].filter((c) => folded(c) === folded(rule));
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
