/** Folders whose names, links and depth are hard to serve, and the targets that they may be asked for by. */
import { mkdirSync, writeFileSync } from "node:fs";
import fc from "fast-check";

import { makeTree } from "./tree.js";

const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.of(part))),
  );

/** Names that something has read otherwise, the worst first. */
const NAMES: readonly Buffer[] = [
  ...[bytes("\ufeffa"), bytes("*"), bytes("%2F"), bytes("a;b"), bytes("b", 0xff)],
  ...[bytes(0xff, ".html"), bytes(0xed, 0xa0, 0x80), bytes("\ufffd", 0xc3)],
  ...["index.html", "a b", " ", "a\nb", "\u0001", "\u007f", "\u2028", "\ufffd"].map((name) =>
    bytes(name),
  ),
  ..."x* a\\b .hidden old.htm a % %41 a?b a#b a&b+c=d é e\u0301 \u{1f600} ... ~ a:b [id] CASE z.js.gz %zz"
    .split(" ")
    .map((name) => bytes(name)),
  ..."%E9 \" ' < | ^ ` {x} a.html.html .html - @ ! $ , Ã© __proto__ http: (x) a%2Fb %2e%2e page.html"
    .split(" ")
    .map((name) => bytes(name)),
];

/** Names of any bytes that a file may have. */
function randomNames(count: number): Buffer[] {
  const part = fc.oneof(
    fc.constantFrom("%", "%2", "*", ".html", "\ufeff", "\ufffd", "\\", ";", "?", " ", "é", "index"),
    fc.uint8Array({ minLength: 1, maxLength: 2 }),
  );
  const name = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => Buffer.concat(parts.map((each) => Buffer.from(each as string))))
    .filter((found) => !found.includes(0) && !found.includes("/") && !/^\.{1,2}$/.test(`${found}`));
  return fc.sample(name, { numRuns: count, seed: 18 });
}

const isText = (name: Buffer) => Buffer.from(name.toString()).equals(name);

export interface HostileOptions {
  /** How many of the names that are known, and how many at random. */
  readonly known: number;
  readonly random: number;
  /** Leaves out links that lead round, and all names but these. */
  readonly tame: RegExp | undefined;
}

/** Makes a folder in which each name is a file, a folder, an index, and all of these below one another. */
export function makeHostileFolder({ known, random, tame }: HostileOptions): string {
  const root = makeTree({
    "index.html": "",
    "htm/index.htm": "",
    "links/index.html": "",
    "links/page": { link: "index.html" },
    ...(tame ? {} : { "links/up": { link: ".." }, "links/self": { link: "." } }),
    [`depth${"/x".repeat(70)}/page.html`]: "",
    ".git/config": "",
  });
  const at = (...names: (string | Buffer)[]) =>
    Buffer.concat(
      [root, ...names]
        .flatMap((name, index) => [index ? "/" : "", name])
        .map((part) => Buffer.from(part)),
    );
  const all = [...NAMES.slice(0, known), ...randomNames(random)];
  for (const name of tame
    ? all.filter((name) => isText(name) && tame.test(name.toString()))
    : all) {
    const folder = Buffer.concat([Buffer.from("d"), name]);
    mkdirSync(at(folder), { recursive: true });
    mkdirSync(at("in", name), { recursive: true });
    for (const file of [
      at(name),
      at(folder, "index.html"),
      at("in", name, "f"),
      at("in", name, "page.html"),
    ]) {
      writeFileSync(file, "x");
    }
    mkdirSync(at("pages", name), { recursive: true });
    writeFileSync(at("pages", name, "index.html"), "x");
  }
  return root;
}

/** Bytes that cannot stand in the first line of a request. */
const NEVER = /[^\x21-\x7e\x80-\xff]/;

/** What a client may send for a key, and for what is near it. */
export function* targetsOf(keys: readonly string[]): Generator<string> {
  const targets = new Set(
    keys.flatMap((key) => spellings(key).flatMap((text) => [...variants(text)])),
  );
  for (const target of targets) if (target !== "" && !NEVER.test(target)) yield target;
}

/** The ways to encode a key; characters are bytes. */
function spellings(key: string): string[] {
  const text = Buffer.from(key).toString("latin1");
  const raw = text.replace(/%([\dA-F]{2})/g, (_, byte) =>
    String.fromCharCode(Number.parseInt(byte, 16)),
  );
  const encoded = (which: RegExp) =>
    raw.replace(
      which,
      (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`,
    );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is encoded
  const least = encoded(/[\x00-\x20%?#\x7f]/g);
  const usual = encoded(/[^\w./~*!'()-]/g);
  const all = encoded(/[^/]/g);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is encoded
  const lone = encoded(/[\x00-\x20?#\x7f]/g);
  return [...new Set([least, usual, usual.toLowerCase(), all, lone])];
}

function* variants(path: string): Generator<string> {
  const inner = /(?!^)\//g;
  yield* [path, `${path}/`, `${path}//`, path.replaceAll("/", "//"), `${path}?x=/y`, `${path};x`];
  yield* [path.replace(inner, "%2F"), path.replace(inner, "%2f"), path.replace(inner, "\\")];
  yield* [
    path.replace(inner, "%5C"),
    `/.${path}`,
    `/a/..${path}`,
    `/%2e${path}`,
    `/a/%2E%2e${path}`,
  ];
  yield* [
    `/a%2f..${path}`,
    `${path}/.`,
    `${path}/index.html`,
    `${path}.html`,
    `${path}%20`,
    `${path}.`,
  ];
  yield* [path.toUpperCase(), path.slice(1), `http://other${path}`, `//other${path}`];
  yield* [
    path.replace(/\.html?$/, ""),
    `${path.replace(/\.html?$/, "")}/`,
    path.replace(/\.gz$/, ""),
  ];
  yield* [path.replace(/[^/]*$/, ""), `${path}%00`, path.replaceAll("/", "/;x/")];
}
