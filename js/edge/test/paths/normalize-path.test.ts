import { buildPathFilter, canExist, normalizePath, PathFilter, PathSet } from "hedgerow";
import { expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";

import { trials } from "../../../../tests/support/trials.js";

/** Stands for an encoded asterisk. No generated path has this character. */
const STAR = "\u{10fffe}";

/** Strings with many characters that have a meaning in paths. */
const path = fc
  .array(
    fc.oneof(
      fc.constantFrom("/", "//", ".", "..", "%", "%25", "%2f", "%2E", "?", "#", "%C3%A9", "%e2%82"),
      fc.constantFrom("%2A", "/%2a", "/*"),
      fc.constantFrom("%F0%9F%98%80", "%ff", "%C0%AF", "%ED%A0%80", "é", "😀", "a", "*", "\\", " "),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""))
  .filter((text) => !text.includes(STAR));

/** A naive implementation: applies the rules one by one, to bytes. */
function naive(text: string): string {
  const bytes: number[] = [];
  const kept = new Set<number>();
  const stars = text.replace(/[?#].*$/s, "").replace(/%2a/gi, STAR);
  const encoded = new TextEncoder().encode(stars);
  for (let index = 0; index < encoded.length; index += 1) {
    const three = String.fromCharCode(...encoded.subarray(index, index + 3));
    const isEscape = /^%[0-9a-f]{2}$/i.test(three);
    const byte = isEscape ? Number.parseInt(three.slice(1), 16) : encoded[index]!;
    if (isEscape) index += 2;
    if (isEscape ? "%/?#".includes(String.fromCharCode(byte)) : byte === 0x25) {
      kept.add(bytes.length);
    }
    bytes.push(byte);
  }
  let decoded = "";
  for (let index = 0; index < bytes.length; ) {
    const length = [1, 2, 3, 4].find((count) => isCharacter(bytes.slice(index, index + count)));
    if (kept.has(index) || length === undefined) {
      decoded += `%${bytes[index]!.toString(16).toUpperCase().padStart(2, "0")}`;
      index += 1;
    } else {
      decoded += new TextDecoder("utf-8", { ignoreBOM: true }).decode(
        Uint8Array.from(bytes.slice(index, index + length)),
      );
      index += length;
    }
  }
  const segments: string[] = [];
  for (const segment of decoded.replace(/^\//, "").split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== ".") segments.push(segment);
  }
  const normal = `/${segments.join("/")}`.replace(/\/{2,}/g, "/").replace(/(.)\/$/s, "$1");
  return normal.replace(new RegExp(`/${STAR}$`), "/%2A").replaceAll(STAR, "*");
}

/** Returns a string with lone surrogates replaced. */
function wellFormed(text: string): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text));
}

function isCharacter(bytes: number[]): boolean {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(bytes),
    );
    return [...text].length === 1;
  } catch {
    return false;
  }
}

test("normalizePath agrees with a naive implementation, and is idempotent", () => {
  fc.assert(
    fc.property(path, (text) => {
      const normal = normalizePath(text);
      expect(normalizePath(normal)).toBe(normal);
      expect(normal).toMatch(/^\/(?!.*\/\/)(?!.*[?#])(?:.*[^/])?$/s);
      expect(wellFormed(normal)).toBe(naive(text));
    }),
    { numRuns: trials({ few: 1500, all: 5000 }) },
  );
});

test("normalizePath gives the same result for a path and for its parsed URL", () => {
  const plain = path.filter((text) => !/[\\\p{Cc}]/u.test(text) && text.trim() === text);
  fc.assert(
    fc.property(plain, (text) => {
      const rooted = wellFormed(`/${text.replace(/^\/+/, "")}`);
      expect(normalizePath(new URL(`http://localhost${rooted}`).pathname)).toBe(
        normalizePath(rooted),
      );
    }),
    { numRuns: trials({ few: 1000, all: 2000 }) },
  );
});

/** The number of parts of a long path, which a recursive implementation could not handle. */
const PARTS = trials({ few: 300_000, all: 2_000_000 });
const COUNT = PARTS.toLocaleString("en");

/** The kinds of parts, the path of each, and the length of its key. */
const LONG: readonly [name: string, path: () => string, length: number][] = [
  ["segments", () => "/a".repeat(PARTS), 2 * PARTS],
  ["segments that are taken back at once", () => "/a/..".repeat(PARTS), 1],
  ["segments that are taken back at the end", () => "/a".repeat(PARTS) + "/..".repeat(PARTS), 1],
  ["dots", () => "/a/.".repeat(PARTS), 2 * PARTS],
  ["slashes", () => "/".repeat(PARTS), 1],
  ["escapes in one segment", () => `/${"%41".repeat(PARTS)}`, PARTS + 1],
  ["escapes that stay", () => `/${"%2f".repeat(PARTS)}`, 3 * PARTS + 1],
  ["bytes that are no characters", () => `/${"%80".repeat(PARTS)}`, 3 * PARTS + 1],
  ["percent signs", () => "%".repeat(PARTS), 3 * PARTS + 1],
  ["stars", () => "/%2A".repeat(PARTS), 2 * PARTS + 2],
];

test.for(LONG)(`normalizePath handles a path of ${COUNT} %s`, ([, path, length]) => {
  expect(normalizePath(path())).toHaveLength(length);
});

test(`canExist handles a path of ${COUNT} segments with the deepest wildcards`, () => {
  const path = normalizePath("/a".repeat(PARTS));
  for (const key of ["/b/*", `${"/a".repeat(30)}/b/*`, `${"/b".repeat(2.5 * PARTS)}/*`]) {
    const isDeep = key.length > 200;
    expect(canExist(new PathSet([key]), path)).toBe(isDeep);
    expect(canExist(PathFilter.parse(buildPathFilter([key])), path)).toBe(isDeep);
  }
});
