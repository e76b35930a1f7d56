import { HeaderStripper, HedgerowError } from "hedgerow";
import { equal, refused, thrownBy } from "../../support/assert.js";
import { isToken, MAX_RULE_LENGTH, MAX_RULES } from "../../support/tokens.js";
import type { Cases } from "../case.js";

/** Asserts that `rule` is refused with a message that names it. */
function refusedRule(rule: string, ...parts: readonly string[]): void {
  refused(() => new HeaderStripper([rule]), "ERR_HEADER_RULE", "rule 0 ", ...parts);
  refused(() => new HeaderStripper(["x-a", "x-b*", rule]), "ERR_HEADER_RULE", "rule 2 ", ...parts);
}

export const ruleErrors: Cases = {
  "rule errors are instances of HedgerowError": () => {
    equal(thrownBy(() => new HeaderStripper([""])) instanceof HedgerowError, true);
  },

  "the constructor of HeaderStripper refuses an empty rule": () => {
    refusedRule("", '("")', "expected a field name, found an empty rule");
  },

  "the constructor of HeaderStripper refuses a lone asterisk": () => {
    refusedRule("*", '("*")', "expected a prefix before '*', found a lone '*'");
  },

  "an asterisk before the end of a rule is refused with its index": () => {
    const rules = { "*-internal": 0, "x-*-id": 2, "x-*-*": 2, "**": 0, "x-**": 2, "***": 0 };
    for (const [rule, position] of Object.entries(rules)) {
      refusedRule(
        rule,
        JSON.stringify(rule),
        `'*' only as the last character`,
        `index ${position}`,
      );
    }
  },

  "a character that is not a token character is refused with its index": () => {
    const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
    for (const character of ascii.filter((candidate) => !isToken(candidate))) {
      const code = character.charCodeAt(0).toString(16).toUpperCase();
      const found = `found U+${code.padStart(4, "0")} at index 2`;
      for (const rule of [`x-${character}-id`, `x-${character}*`]) {
        refusedRule(rule, `expected a token character, ${found}`);
      }
      refusedRule(character, "at index 0");
    }
  },

  "a character outside ASCII is refused with its index": () => {
    for (const character of ["\x80", "\u00e9", "\u017f", "\u212a", "\u{1f512}", "\ud800"]) {
      refusedRule(`x-a${character}`, "expected a token character", "at index 3");
    }
    refusedRule("x-\u{1f512}*", "found U+1F512 at index 2");
    refusedRule("x-\ud800\ud800", "found U+D800 at index 2");
  },

  "rule errors name the fault, and quote at most 300 characters of the rule": () => {
    const messages = [
      ["", 'rule 0 (""): expected a field name, found an empty rule'],
      [
        "x-*-id",
        `rule 0 ("x-*-id"): expected '*' only as the last character, found one at index 2`,
      ],
      ["x debug", 'rule 0 ("x debug"): expected a token character, found U+0020 at index 1'],
      [
        `y${" ".repeat(400)}`,
        `rule 0 ("y${" ".repeat(299)}"): expected at most 256 characters, found more`,
      ],
    ] as const;
    for (const [rule, message] of messages) {
      equal((thrownBy(() => new HeaderStripper([rule])) as Error).message, message);
    }
  },

  "a rule can be as long as the limit, and no longer": () => {
    const longest = "x".repeat(MAX_RULE_LENGTH);
    for (const star of ["", "*"]) {
      using stripper = new HeaderStripper([longest + star]);
      equal(stripper.matches(longest), true);
      refusedRule(`${longest}x${star}`, "expected at most 256 characters, found more");
    }
  },

  "a stripper takes as many distinct rules as the limit, and no more": () => {
    const rules = Array.from({ length: MAX_RULES }, (_, number) => `x-${number}`);
    using stripper = new HeaderStripper([...rules, "X-0"]);
    const names = [...rules, "x-", `x-${MAX_RULES}`, "x-00"];
    equal(names.filter((name) => stripper.matches(name)).length, MAX_RULES);
    refused(
      () => new HeaderStripper([...rules, "y"]),
      "ERR_HEADER_RULE",
      `rule ${MAX_RULES} ("y")`,
      `expected at most ${MAX_RULES} rules, found another`,
    );
  },

  "a rule that is not a string is refused": () => {
    for (const rule of [undefined, null, 7, true, {}, [], Symbol("x-a"), new String("x-a")]) {
      const rules = ["x-a", rule] as unknown as string[];
      const found = `rule 1: expected a string, found ${typeof rule}`;
      refused(() => new HeaderStripper(rules), "ERR_ARGUMENT", found);
    }
  },

  "a string in place of a list of rules is refused": () => {
    const found = "expected a list of rules, found string";
    refused(() => new HeaderStripper("x-debug"), "ERR_ARGUMENT", found);
  },
};
