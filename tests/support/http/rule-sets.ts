/** The rules that exchanges are generated for. Each set has its own server. */
import fc from "fast-check";
import { preset } from "hedgerow";
import { TOKEN_CHARACTERS } from "../tokens.js";

export interface RuleSet {
  requests: readonly string[];
  responses: readonly string[];
}

const few = ["x-internal-*", "X-Debug-Token", "cf-int-*", "__proto__", "constructor", "7*", "x-a"];

const text = fc.string({ unit: fc.constantFrom(...TOKEN_CHARACTERS), minLength: 4, maxLength: 24 });
const many = fc.sample(fc.tuple(text, fc.constantFrom("", "*")), { numRuns: 150, seed: 1 });

/** The last set matches `Connection`, which only Node exposes to applications. */
export const RULE_SETS: readonly RuleSet[] = [
  { requests: few, responses: few },
  {
    requests: [...few, ...preset("next", "requests")],
    responses: ["x-powered-by", "x-secret-*", "set-cookie2"],
  },
  { requests: many.map((parts) => parts.join("")), responses: [...preset("cloudflare"), "x-*"] },
  {
    requests: [...few, "connection"],
    responses: [...preset("next", "responses"), "connection", "x-internal-*"],
  },
];
