/** The command `hedgerow headers check`. */
import { type Command, Option } from "commander";
import { explainField, HeaderStripper, HedgerowError } from "hedgerow";

import { CliError, EXIT, messageOf } from "../error.js";
import { decode, expecting, inputOf } from "../files/input.js";
import { jsonOption, type OutputFlags } from "../options.js";
import { escapeControls, grouped, jsonOf, print } from "../print.js";
import { type Direction, NEEDS, type Need } from "./needs.js";

const HELP = `
A list has one rule per line; a comment begins with #. A file that begins with [ is a JSON array of
rules. Each file is a list of its own.

Findings:
  invalid    the rule is not a field name, or a prefix that ends in *
  duplicate  an earlier line has the same rule, maybe in an equivalent spelling
  covered    a prefix of the list matches all that this rule does
  strips     the rule strips a field that a site needs
  missing    an allow-list strips a field that a site needs

Spellings are equivalent if they differ in -, _ and . only. Those of an allow-list never are.`;

interface CheckFlags extends OutputFlags {
  readonly mode: "strip" | "keep";
  readonly spelling: "equivalent" | "exact";
  readonly direction?: Direction;
  readonly without: readonly string[];
}

/** A problem of a list. Problems of the whole list have no rule. */
interface Finding {
  readonly file: string;
  readonly line?: number;
  readonly rule?: string;
  readonly kind: "invalid" | "duplicate" | "covered" | "strips" | "missing";
  /** The field that a site needs, and the messages that lose it. */
  readonly field?: string;
  readonly direction?: Direction;
  readonly message: string;
}

/** Adds `hedgerow headers check`. */
export function addHeadersCommands(hedgerow: Command): void {
  hedgerow
    .command("headers")
    .description("Header rules: which fields are stripped from messages")
    .command("check")
    .description("find invalid, redundant and harmful rules in lists")
    .argument("<file...>", "lists of rules; - is standard input")
    .addOption(
      new Option("--mode <mode>", "strip the fields that the rules match, or keep only these")
        .choices(["strip", "keep"])
        .default("strip"),
    )
    .addOption(
      new Option("--spelling <spelling>", "spellings of a name that a strip rule matches")
        .choices(["equivalent", "exact"])
        .default("equivalent"),
    )
    .addOption(
      new Option(
        "--direction <direction>",
        "messages that the lists are for (default: both)",
      ).choices(["requests", "responses"]),
    )
    .option("--without <field>", "field that the site does not need; repeatable", collect, [])
    .addOption(jsonOption())
    .addHelpText("after", HELP)
    .action(check);
}

const collect = (field: string, fields: readonly string[]) => [...fields, field.toLowerCase()];

async function check(files: string[], flags: CheckFlags): Promise<void> {
  const { mode, spelling, direction, without, json } = flags;
  const needs = NEEDS.filter(
    (need) => (direction ?? need.direction) === need.direction && !without.includes(need.field),
  );
  const findings: Finding[] = [];
  let count = 0;
  for (const file of files) {
    const rules = await readRuleList(file);
    count += rules.length;
    const found =
      mode === "strip" ? checkDenyList(rules, needs, spelling) : checkAllowList(rules, needs);
    findings.push(...found.map((finding) => ({ file, ...finding })));
  }
  const summary = `${counted(count, "rule")}, ${counted(findings.length, "finding")}\n`;
  await print(json ? jsonOf({ rules: count, findings }) : findings.map(lineOf).join("") + summary);
  process.exitCode = findings.length > 0 ? EXIT.found : EXIT.done;
}

const counted = (count: number, noun: string) =>
  `${count === 0 ? "no" : grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

function lineOf({ file, line, rule, message }: Finding): string {
  const place = line === undefined ? [file] : [`${file}:${line}`, rule!];
  return `${escapeControls([...place, message].join(": "))}\n`;
}

type Found = Omit<Finding, "file">;

/** Added to a message if a rule and what it matches differ in characters that compare equal. */
const EQUIVALENT = ", an equivalent spelling";

const lowerCase = (text: string) => text.toLowerCase();

/** Returns the same text for all spellings that compare equal. */
const folded = (text: string) => lowerCase(text).replace(/[._]/g, "-");

function checkDenyList(
  rules: readonly ListedRule[],
  needs: readonly Need[],
  spelling: CheckFlags["spelling"],
): Found[] {
  return checkRules(
    rules,
    undefined,
    spelling === "exact" ? lowerCase : folded,
    ({ text, line }) => {
      using stripper = new HeaderStripper([text], { spelling });
      return needs
        .filter(({ field }) => stripper.matches(field))
        .map(({ field, direction, reason }) => {
          const other = explainField(stripper, field).spelling === "equivalent" ? EQUIVALENT : "";
          return {
            line,
            rule: text,
            kind: "strips",
            field,
            direction,
            message: `strips ${field} from ${direction}${other}: ${reason}`,
          };
        });
    },
  );
}

function checkAllowList(rules: readonly ListedRule[], needs: readonly Need[]): Found[] {
  const valid: string[] = [];
  using empty = new HeaderStripper([], { mode: "keep" });
  const found = checkRules(rules, empty, lowerCase, ({ text }) => {
    valid.push(text);
    return [];
  });
  using stripper = new HeaderStripper(valid, { mode: "keep" });
  const missing = needs.filter(({ field, isOptional }) => !isOptional && stripper.strips(field));
  for (const { field, direction, reason } of missing) {
    const message = `strips ${field} from ${direction}: ${reason}`;
    found.push({ kind: "missing", field, direction, message });
  }
  return found;
}

/**
 * Finds invalid and redundant rules, and calls `checkRule` for all others.
 *
 * @param empty an allow-list without rules, if the rules are of an allow-list
 * @param fold returns the same text for equivalent rules
 */
function checkRules(
  rules: readonly ListedRule[],
  empty: HeaderStripper | undefined,
  fold: (text: string) => string,
  checkRule: (rule: ListedRule) => Found[],
): Found[] {
  const firsts = new Map<string, ListedRule>();
  for (const rule of rules) {
    const key = fold(rule.text);
    if (!firsts.has(key)) firsts.set(key, rule);
  }
  /** Reports that a rule is spelled differently from one that matches the same names. */
  const otherSpelling = (rule: ListedRule, other: ListedRule) => {
    const text = lowerCase(other.text).replace("*", "");
    return lowerCase(rule.text).startsWith(text) ? "" : EQUIVALENT;
  };
  return rules.flatMap((rule): Found[] => {
    const { text, line } = rule;
    const refusal = refusalOf(text);
    if (refusal !== undefined) {
      return [{ line, rule: text, kind: "invalid", message: `invalid: ${refusal}` }];
    }
    const first = firsts.get(fold(text))!;
    if (first !== rule) {
      const message = `duplicate of line ${first.line}${otherSpelling(rule, first)}`;
      return [{ line, rule: text, kind: "duplicate", message }];
    }
    const prefix = prefixesOf(fold(text)).flatMap((each) => firsts.get(each) ?? [])[0];
    if (prefix !== undefined) {
      const other = otherSpelling(rule, prefix);
      const message = `covered by ${lowerCase(prefix.text)} on line ${prefix.line}${other}`;
      return [{ line, rule: text, kind: "covered", message }];
    }
    if (empty?.strips(text) === false) {
      return [{ line, rule: text, kind: "covered", message: "always kept, without a rule" }];
    }
    return checkRule(rule);
  });
}

/** Returns the other rules that match every name that a rule matches, shortest first. */
function prefixesOf(rule: string): string[] {
  const text = rule.replace(/\*$/, "");
  const prefixes = Array.from(text, (_, index) => `${text.slice(0, index + 1)}*`);
  return prefixes.filter((prefix) => prefix !== rule);
}

/** Returns why a rule is invalid, or `undefined` if it is valid. */
function refusalOf(rule: string): string | undefined {
  try {
    new HeaderStripper([rule]).free();
    return undefined;
  } catch (error) {
    if (!(error instanceof HedgerowError)) throw error;
    // Without the number of the rule.
    return error.message.slice(error.message.lastIndexOf("expected "));
  }
}

/** Longest accepted list, in characters: longer than the most rules that a stripper may have. */
const MAX_LENGTH = 1 << 24;

/** A rule as written, and the number of its line, from 1. */
interface ListedRule {
  readonly text: string;
  readonly line: number;
}

/**
 * Reads the rules of a list: one per line, or a JSON array of strings.
 *
 * @param file a file, or `-` for standard input
 * @throws {CliError} `ERR_SOURCE` if it is not such a list, or has no rules
 */
async function readRuleList(file: string): Promise<ListedRule[]> {
  const { name, chunks } = inputOf(file);
  const text = await expecting(name, "a list of rules", () => textOf(chunks, name));
  // No rule contains a bracket.
  const rules = text.trimStart().startsWith("[") ? rulesOfJson(text, name) : rulesOfLines(text);
  if (rules.length === 0) throw new CliError("ERR_SOURCE", `${name}: expected rules, found none`);
  return rules;
}

async function textOf(chunks: AsyncIterable<Uint8Array>, name: string): Promise<string> {
  let text = "";
  for await (const part of decode(chunks, name)) {
    text += part;
    if (text.length > MAX_LENGTH) {
      throw new CliError("ERR_SOURCE", `${name}: expected at most ${MAX_LENGTH} characters`);
    }
  }
  return text;
}

/** A comment begins with `#`, at the beginning of a line or after white space. */
const COMMENT = /(?:^|\s)#.*/s;

function rulesOfLines(text: string): ListedRule[] {
  return text
    .split("\n")
    .map((line, index) => ({ text: line.replace(COMMENT, "").trim(), line: index + 1 }))
    .filter((rule) => rule.text !== "");
}

const STRING = /"(?:[^"\\]|\\.)*"/g;

function rulesOfJson(text: string, name: string): ListedRule[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    throw new CliError("ERR_SOURCE", `${name}: expected JSON: ${messageOf(error)}`);
  }
  const rules = list as unknown[];
  const other = rules.findIndex((rule) => typeof rule !== "string");
  if (other !== -1) {
    const found = JSON.stringify(rules[other]).slice(0, 100);
    throw new CliError("ERR_SOURCE", `${name}: [${other}]: expected a string, found ${found}`);
  }
  // The array has only strings, so its string literals are its items.
  let line = 1;
  let from = 0;
  return Array.from(text.matchAll(STRING), ({ index }, item) => {
    line += text.slice(from, index).split("\n").length - 1;
    from = index;
    return { text: rules[item] as string, line };
  });
}
