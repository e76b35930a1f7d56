/** Folders with difficult names, links and depth, and request targets for them. */
import { mkdirSync, writeFileSync } from "node:fs";
import fc from "../../../../tests/support/fast-check.js";

import { makeTree } from "./tree.js";

const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.of(part))),
  );

/** Names that some server has misread, the worst first. */
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

/** File names of arbitrary bytes. */
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

export interface HostileOptions {
  /** How many of the names that are known, and how many at random. */
  readonly known: number;
  readonly random: number;
  /** Leaves out links that lead round, and all names but these. */
  readonly tame: RegExp | undefined;
}

/** A folder and the paths of its entries, with one character per byte. */
export interface HostileFolder {
  readonly root: string;
  readonly paths: readonly string[];
}

/** Creates a folder in which each name is a file, a folder with and without an index, and a page in one. */
export function makeHostileFolder({ known, random, tame }: HostileOptions): HostileFolder {
  const deep = `depth${"/x".repeat(70)}/page.html`;
  const root = makeTree({
    "index.html": "",
    "htm/index.htm": "",
    "links/index.html": "",
    "links/page": { link: "index.html" },
    ...(tame ? {} : { "links/up": { link: ".." }, "links/self": { link: "." } }),
    [deep]: "",
    ".git/config": "",
  });
  const paths = ["", "index.html", "htm/index.htm", "links/page", deep, ".git/config"];
  if (!tame) paths.push("links/up/index.html", "links/self/index.html", "links/up/links/up/htm");
  const names = [...NAMES.slice(0, known), ...randomNames(random)];
  for (const bytes of tame ? names.filter((name) => isTame(name, tame)) : names) {
    const name = bytes.toString("latin1");
    for (const path of [name, `d${name}/index.html`, `in/${name}/f`, `in/${name}/page.html`]) {
      const file = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
      mkdirSync(file.subarray(0, file.lastIndexOf("/")), { recursive: true });
      writeFileSync(file, "");
      paths.push(path);
    }
  }
  return { root, paths: paths.map((path) => `/${path}`) };
}

function isTame(name: Buffer, tame: RegExp): boolean {
  const text = name.toString();
  return Buffer.from(text).equals(name) && tame.test(text);
}

/** Characters that are invalid in a request line. */
const NEVER = /[^\x21-\x7e\x80-\xff]/;

/** Request targets for the entries of a folder and for near misses. */
export function* targetsOf({ paths }: HostileFolder): Generator<string> {
  const targets = new Set(paths.flatMap(spellings).flatMap((path) => [...variants(path)]));
  for (const target of targets) if (target !== "" && !NEVER.test(target)) yield target;
}

/** The ways to encode a path. */
function spellings(path: string): string[] {
  const encoded = (which: RegExp) => path.replace(which, escapeOf);
  const usual = encoded(/[^\w./~*!'()-]/g);
  return [
    // Encodes only what it must.
    encoded(/[^\x21-\x7e\x80-\xff]|[%?#]/g),
    usual,
    usual.replace(/%../g, (byte) => byte.toLowerCase()),
    encoded(/[^/]/g),
    // A percent sign without an escape.
    encoded(/[^\x21-\x7e\x80-\xff]|[?#]/g),
  ];
}

function escapeOf(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`;
}

/** Near misses of a path, which some servers treat as the path. */
function variants(path: string): string[] {
  const page = path.replace(/\.html?$/, "");
  const separated = (by: string) => path.replace(/(?!^)\//g, by);
  const around = [path, page, path.toUpperCase(), path.slice(1), path.replace(/\.gz$/, "")];
  const before = ["/.", "/a/..", "/%2e", "/a/%2E%2e", "/a%2f..", "http://other", "//other"];
  const after = ["/", "//", "?x=/y", ";x", "/.", "/index.html", ".html", "%20", ".", "%00"];
  const slashes = ["%2F", "%2f", "\\", "%5C", "//", "/;x/", "/./"].map(separated);
  return [
    ...[...around, ...slashes, `${page}/`, path.replace(/[^/]*$/, "")],
    ...before.map((text) => text + path),
    ...after.map((text) => path + text),
  ];
}
