import { CliError, messageOf } from "../error.js";
import { decode, expecting, inputOf } from "../files/input.js";

/** Longest accepted list, in characters: longer than the most rules that a stripper may have. */
const MAX_LENGTH = 1 << 24;

/** A rule as written, and the number of its line, from 1. */
export interface ListedRule {
  readonly text: string;
  readonly line: number;
}

/**
 * Reads the rules of a list: one per line, or a JSON array of strings.
 *
 * @param file a file, or `-` for standard input
 * @throws {CliError} `ERR_SOURCE` if it is not such a list, or has no rules
 */
export async function readRuleList(file: string): Promise<ListedRule[]> {
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
