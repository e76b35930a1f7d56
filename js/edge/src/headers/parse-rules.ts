/** Reads rules, as `src/rule.rs` of the crate `hedgerow-headers` does; a test compares the two. */
import { ESSENTIAL } from "../../wasm/field-names.js";
import { HedgerowError } from "../error.js";
import { folded } from "./characters.js";

/** Longest name or prefix, in characters. */
const MAX_LENGTH = 256;
const MAX_RULES = 32_768;
/** A character that rules must not have: `*`, or any that is not valid in a token. */
const ILLEGAL = /[^!#$%&'+\-.^_`|~0-9A-Za-z]/;

/** A rule that names are compared with. */
export interface Rule {
  /** The name or the prefix in lower case. */
  readonly lower: string;
  /** The same text, capitalised as in most HTTP/1.1 implementations. */
  readonly capital: string;
  /** The same text in lower case, with `-` for `_` and `.`. */
  readonly folded: string;
  readonly isExact: boolean;
  /** Whether the last name that was compared with it matched. */
  matchedLast: boolean;
  /** The next rule of the same slot. */
  next: Rule | undefined;
}

/**
 * Reads rules, each once.
 *
 * @param keeps whether the rules are an allow-list
 * @throws {HedgerowError} as the constructor of `HeaderStripper`
 */
export function parseRules(rules: Iterable<string>, keeps: boolean): Rule[] {
  const parsed = new Map<string, Rule>();
  if (keeps) for (const name of ESSENTIAL) parsed.set(name, ruleOf(name, true));
  let number = 0;
  for (const rule of rules) {
    if (typeof rule !== "string") {
      const message = `rule ${number}: expected a string, found ${typeof rule}`;
      throw new HedgerowError("ERR_ARGUMENT", message);
    }
    const isExact = !rule.endsWith("*");
    const text = isExact ? rule : rule.slice(0, -1);
    const fault = faultOf(text, isExact);
    if (fault !== undefined) throw ruleError(number, rule, fault);
    const key = rule.toLowerCase();
    if (!parsed.has(key)) {
      if (parsed.size === MAX_RULES) {
        throw ruleError(number, rule, `expected at most ${MAX_RULES} rules, found another`);
      }
      parsed.set(key, ruleOf(text.toLowerCase(), isExact));
    }
    number += 1;
  }
  return [...parsed.values()];
}

/** Returns why the text of a rule is invalid, or `undefined` if it is valid. */
function faultOf(text: string, isExact: boolean): string | undefined {
  if (text === "") {
    return isExact
      ? "expected a field name, found an empty rule"
      : "expected a prefix before '*', found a lone '*'";
  }
  if (text.length > MAX_LENGTH) return `expected at most ${MAX_LENGTH} characters, found more`;
  const illegal = ILLEGAL.exec(text);
  if (illegal === null) return undefined;
  const { 0: character, index } = illegal;
  const code = text.codePointAt(index)!.toString(16).toUpperCase().padStart(4, "0");
  const fault =
    character === "*"
      ? "expected '*' only as the last character, found one"
      : `expected a token character, found U+${code}`;
  return `${fault} at index ${index}`;
}

function ruleOf(lower: string, isExact: boolean): Rule {
  return {
    lower,
    capital: lower.replace(/(^|-)./g, (start) => start.toUpperCase()),
    folded: folded(lower),
    isExact,
    matchedLast: true,
    next: undefined,
  };
}

function ruleError(number: number, rule: string, reason: string): HedgerowError {
  const message = `rule ${number} (${JSON.stringify(rule.slice(0, 300))}): ${reason}`;
  return new HedgerowError("ERR_HEADER_RULE", message);
}
