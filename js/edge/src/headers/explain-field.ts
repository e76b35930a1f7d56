import { checkString, wrongType } from "../error.js";
import { folded } from "./characters.js";
import type { CompiledRules } from "./compiled-rules.js";
import { type HeaderStripper, rulesOf } from "./header-stripper.js";
import type { Rule } from "./parse-rules.js";

/** How a {@link HeaderStripper} decides whether to strip a field. */
export interface FieldDecision {
  /** Whether the field is stripped, unless `Connection` nominates it. */
  strips: boolean;
  /** The rule that matches the name, in lower case, or `undefined` if none does. If several do, the first of them. */
  rule: string | undefined;
  /**
   * What decided: `"probe"` if the length and two characters of the name show that no rule matches, `"exact"` or
   * `"prefix"` if such a rule matches, or `"compared"` if the name was compared with rules and none matches.
   */
  step: "probe" | "exact" | "prefix" | "compared";
  /**
   * Whether the name has the characters of the rule, or others for `-`, `_` and `.`; `undefined` if no rule matches.
   */
  spelling: "exact" | "equivalent" | undefined;
}

/**
 * Returns how a stripper decides about a field name, and by which rule: to find out why a field is stripped, or is not.
 * Much slower than `strips`.
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` if `stripper` is not a `HeaderStripper` or `name` not a string
 *
 * @example
 * ```ts
 * import { explainField, HeaderStripper } from "hedgerow";
 *
 * const internal = new HeaderStripper(["x-internal-*"]);
 * explainField(internal, "X_Internal_Id");
 * // { strips: true, rule: "x-internal-*", step: "prefix", spelling: "equivalent" }
 * ```
 */
export function explainField(stripper: HeaderStripper, name: string): FieldDecision {
  checkString("a field name", name);
  const rules = rulesOf(stripper)?.live();
  if (rules === undefined) throw wrongType("a HeaderStripper", stripper);
  const strips = rules.strips(name);
  const lower = lowerCase(name);
  const found = find(rules, lower);
  if (found === undefined) {
    return {
      strips,
      rule: undefined,
      step: rules.compares(name) ? "compared" : "probe",
      spelling: undefined,
    };
  }
  const { lower: text, isExact } = found;
  const isSame = isExact ? lower === text : lower.startsWith(text);
  return {
    strips,
    rule: isExact ? text : `${text}*`,
    step: isExact ? "exact" : "prefix",
    spelling: isSame ? "exact" : "equivalent",
  };
}

/** Returns the first rule that matches a name in lower case: one of the same spelling, if there is one. */
function find({ rules, isExact }: CompiledRules, lower: string): Rule | undefined {
  const matching = (name: string, textOf: (rule: Rule) => string) =>
    rules.find((rule) => (rule.isExact ? textOf(rule) === name : name.startsWith(textOf(rule))));
  const found = matching(lower, (rule) => rule.lower);
  return found ?? (isExact ? undefined : matching(folded(lower), (rule) => rule.folded));
}

/** Returns a name in lower case. Only ASCII letters have a case in HTTP. */
const lowerCase = (name: string) => name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
