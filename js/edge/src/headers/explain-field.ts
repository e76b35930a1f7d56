import { checkString, wrongType } from "../error.js";
import { type HeaderStripper, rulesOf } from "./header-stripper.js";

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
 * explainField(internal, "X-Internal-Id"); // { strips: true, rule: "x-internal-*", step: "prefix" }
 * ```
 */
export function explainField(stripper: HeaderStripper, name: string): FieldDecision {
  checkString("a field name", name);
  const rules = rulesOf(stripper)?.live();
  if (rules === undefined) throw wrongType("a HeaderStripper", stripper);
  const strips = rules.strips(name);
  // Only ASCII letters have a case in HTTP.
  const lower = name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const rule = rules.rules.find((rule) =>
    rule.isExact ? rule.lower === lower : lower.startsWith(rule.lower),
  );
  if (rule === undefined) {
    return { strips, rule, step: rules.compares(name) ? "compared" : "probe" };
  }
  const { isExact } = rule;
  return {
    strips,
    rule: isExact ? rule.lower : `${rule.lower}*`,
    step: isExact ? "exact" : "prefix",
  };
}
