/** The rules that exchanges are generated for. Each set has its own server. */

import { preset } from "hedgerow";
import fc from "../fast-check.js";
import { TOKEN_CHARACTERS } from "../tokens.js";

/** Rules of fields to strip, or an allow-list. */
export type Rules = readonly string[] | { keep: readonly string[] };

export interface RuleSet {
  requests: Rules;
  responses: Rules;
}

/** Returns the rules of either kind as a list. */
export function listOf(rules: Rules): readonly string[] {
  return "keep" in rules ? rules.keep : rules;
}

const few = ["x-internal-*", "X-Debug-Token", "cf-int-*", "__proto__", "constructor", "7*", "x-a"];

const text = fc.string({ unit: fc.constantFrom(...TOKEN_CHARACTERS), minLength: 4, maxLength: 24 });
const many = fc.sample(fc.tuple(text, fc.constantFrom("", "*")), { numRuns: 150, seed: 1 });

/** The last set strips `Connection`, which only Node exposes to applications. */
export const RULE_SETS: readonly RuleSet[] = [
  { requests: few, responses: few },
  {
    requests: [...few, ...preset("next", "requests")],
    responses: ["x-powered-by", "x-secret-*", "set-cookie2"],
  },
  { requests: many.map((parts) => parts.join("")), responses: [...preset("cloudflare"), "x-*"] },
  {
    requests: { keep: [...few, "accept", "x-kept*"] },
    responses: { keep: [...many.map((parts) => parts.join("")), "set-cookie", "X-Kept"] },
  },
  {
    requests: [...few, "connection"],
    responses: [...preset("next", "responses"), "connection", "x-internal-*"],
  },
];
