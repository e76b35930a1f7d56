import fc from "fast-check";
import { normalizePath } from "hedgerow";
import { expect, test } from "vitest";

/** Texts that are full of what has a meaning in paths. */
const path = fc
  .array(
    fc.oneof(
      fc.constantFrom("/", "//", ".", "..", "%", "%25", "%2f", "%2E", "?", "#", "%C3%A9", "%e2%82"),
      fc.constantFrom("%F0%9F%98%80", "%ff", "%C0%AF", "%ED%A0%80", "é", "😀", "a", "*", "\\", " "),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

/** The rules, one after the other, on bytes. */
function naive(text: string): string {
  const bytes: number[] = [];
  const kept = new Set<number>();
  const encoded = new TextEncoder().encode(text.replace(/[?#].*$/s, ""));
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
  return `/${segments.join("/")}`.replace(/\/{2,}/g, "/").replace(/(.)\/$/s, "$1");
}

/** A text as UTF-8 can hold it. */
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

test("a normal form is its own, and what the rules say", () => {
  fc.assert(
    fc.property(path, (text) => {
      const normal = normalizePath(text);
      expect(normalizePath(normal)).toBe(normal);
      expect(normal).toMatch(/^\/(?!.*\/\/)(?!.*[?#])(?:.*[^/])?$/s);
      expect(wellFormed(normal)).toBe(naive(text));
    }),
    { numRuns: 5000 },
  );
});

test("what a URL says of a path has the path's normal form", () => {
  const plain = path.filter((text) => !/[\\\p{Cc}]/u.test(text) && text.trim() === text);
  fc.assert(
    fc.property(plain, (text) => {
      const rooted = wellFormed(`/${text.replace(/^\/+/, "")}`);
      expect(normalizePath(new URL(`http://localhost${rooted}`).pathname)).toBe(
        normalizePath(rooted),
      );
    }),
    { numRuns: 2000 },
  );
});
