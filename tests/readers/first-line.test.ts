/** The reader in JavaScript accepts the same files as the one in Rust, with the same messages. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { PathFilter } from "hedgerow";
import { expect, test } from "vitest";

import { readFirstLine } from "../../js/edge/src/paths/first-line.js";
import { Random } from "../../js/edge/test/support/random.js";
import { FUSE, PATHMAP, REDIRECTS, ROUTING } from "../cases/paths/files.js";
import { bytesOf } from "../support/text.js";
import { trials } from "../support/trials.js";

const FILES = trials({ few: 5_000, all: 20_000 });

/** A first line that uses every feature of JSON. */
const RICH = [
  '{ "a":[{},[ ],[-0.5e-3,1E+2,0,true,false , null]] ,"b":{"c":{"d":"é😀"}},"version" : ',
  '"\\u00e9\\uD83D\\udE00\\"\\\\\\/\\b\\f\\n\\r\\t","bloom":{"s":9007199254740991,"x":"","m":7,"k":2,"p":0.25,',
  '"n":1},"wildcards":3}\n"gA=="',
].join("");

const TOKENS = [
  '{"',
  '"}',
  ":",
  ",",
  "[",
  "]",
  "{",
  "}",
  "0",
  "1e5",
  "-1",
  "01",
  "9007199254740991",
];
const MEMBERS = [
  '"n":1',
  '"m":138',
  '"k":3',
  '"l":1',
  '"q":7',
  '"s":0',
  '"p":-0.1',
  '"wildcards":64',
];
const BYTES = [
  "\\",
  "\\u0062",
  "\\x",
  "\n",
  "\r\n",
  "\t",
  " ",
  "\u0000",
  "\u001f",
  "é",
  "\ufeff",
  "=",
  "+",
];

/** Replaces, removes, doubles or inserts something, or truncates. */
function damage(random: Random, file: Uint8Array): Uint8Array<ArrayBuffer> {
  const at = random.below(file.length + 1);
  const [before, after] = [file.subarray(0, at), file.subarray(at)];
  const list = [TOKENS, MEMBERS, BYTES][random.below(3)]!;
  const text = bytesOf(list[random.below(list.length)]!);
  const length = random.below(4);
  const part = random.below(3) === 0 ? Uint8Array.of(random.below(256)) : text;
  const middle = [part, part, after.subarray(0, length), new Uint8Array()][random.below(4)]!;
  const rest = random.below(40) === 0 ? new Uint8Array() : after.subarray(random.below(2) * length);
  return Uint8Array.of(...before, ...middle, ...rest);
}

function outcome(file: Uint8Array): string {
  try {
    const filter = PathFilter.parse(file);
    const { wildcards } = filter;
    filter.free();
    return `ok ${wildcards}`;
  } catch (error) {
    return (error as Error).message.replace(/^path filter: /, "");
  }
}

/** Returns the outcomes of the reader in Rust. */
function native(files: readonly Uint8Array[]): string[] {
  const input = files.map((file) => `${Buffer.from(file).toString("hex")}\n`).join("");
  const args = ["run", "--quiet", "-p", "hedgerow-paths", "--example", "check"];
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const out = execFileSync("cargo", args, { cwd, input, encoding: "utf8", maxBuffer: 2 ** 30 });
  return out.trimEnd().split("\n");
}

test("JavaScript reads damaged files as Rust does", () => {
  const random = new Random(7);
  const escaped = PATHMAP.replace('"test"', '"a\\n\\ud800"');
  const compact = [PATHMAP, REDIRECTS, ROUTING, FUSE, escaped];
  const spaced = compact.map((file) => file.replace("{", "{ "));
  const sources = [...compact, ...spaced, RICH, RICH].map(bytesOf);
  const files = [...sources, bytesOf(""), bytesOf("{}\n")];
  while (files.length < FILES) {
    let file = sources[random.below(sources.length)]!;
    for (let times = 1 + random.below(3); times > 0; times -= 1) file = damage(random, file);
    files.push(file);
  }
  const found = files.map(outcome);
  const wanted = native(files);
  expect(wanted.length).toBe(files.length);
  for (const [index, file] of files.entries()) {
    if (isTooLong(wanted[index]!)) expect(found[index]).toMatch(/^expected/);
    else expect(found[index], JSON.stringify(Buffer.from(file).toString())).toBe(wanted[index]);
  }
  for (const file of files.filter((_, index) => found[index]!.startsWith("ok"))) {
    // White space, so that the grammar reads it.
    const brace = file.indexOf(0x7b) + 1;
    const spaced = Uint8Array.of(...file.subarray(0, brace), 0x20, ...file.subarray(brace));
    const line = readFirstLine(spaced);
    expect(readFirstLine(file)).toEqual({ ...line, length: line.length - 1 });
  }
  const accepted = found.filter((outcome) => outcome.startsWith("ok")).length;
  expect(accepted).toBeGreaterThan(FILES / 50);
  expect(new Set(found.map((outcome) => outcome.replace(/,? found.*/, ""))).size).toBeGreaterThan(
    40,
  );
});

/** JavaScript reads only one byte more than the first line allows, so it does not know the length of what follows. */
function isTooLong(message: string): boolean {
  return /or fewer|the end of the file|the quote that closes/.test(message);
}
