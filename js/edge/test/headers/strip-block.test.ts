import { HeaderStripper, type HeaderStripperOptions, HedgerowError } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";
import { bytesOf, textOf } from "../../../../tests/support/text.js";
import { isToken } from "../../../../tests/support/tokens.js";
import { byteOfValue, options, rulesAndFieldNames, valuesFor } from "../support/generate.js";
import { Oracle } from "../support/oracle.js";

const fold = fc.constantFrom("", "", "", "\r\n ", "\r\n\t\r\n folded, ");

/** Rules, and a well-formed block. */
const rulesAndBlock = rulesAndFieldNames.chain(({ rules, names }) => {
  const valid = names.filter(isToken);
  const folds = fc.array(fold, { minLength: valid.length, maxLength: valid.length, size: "max" });
  return fc
    .tuple(valuesFor(valid, byteOfValue), folds, fc.constantFrom("", "\r\n"))
    .map(([values, folded, end]) => {
      const lines = valid.map((name, index) => `${name}:${folded[index]}${values[index]}\r\n`);
      return { rules, block: lines.join("") + end };
    });
});

/** Asserts that a block is stripped as the oracle does, or refused and not changed. */
function assertStrips(
  rules: readonly string[],
  text: string,
  options?: HeaderStripperOptions,
): void {
  using stripper = new HeaderStripper(rules, options);
  const expected = new Oracle(rules, options).stripBlock(text);
  const block = bytesOf(text);
  try {
    expect(textOf(stripBlock(stripper, block))).toBe(expected);
  } catch (error) {
    if (!(error instanceof HedgerowError)) throw error;
    expect(error.code).toBe("ERR_FIELD_BLOCK");
    expect(expected, error.message).toBeUndefined();
    expect(textOf(block)).toBe(text);
  }
}

test("stripBlock keeps exactly the other fields, byte for byte and in order", () => {
  const property = fc.property(rulesAndBlock, options, ({ rules, block }, options) => {
    assertStrips(rules, block, options);
  });
  fc.assert(property, { numRuns: 500 });
});

test("stripBlock follows the grammar for a block with any one byte changed", () => {
  const byte = fc.oneof(
    fc.constantFrom(..."\r\n\0: \t"),
    fc.integer({ min: 0, max: 0xff }).map((code) => String.fromCharCode(code)),
  );
  const property = fc.property(rulesAndBlock, fc.nat(), byte, ({ rules, block }, number, other) => {
    const at = number % (block.length + 1);
    assertStrips(rules, block.slice(0, at) + other + block.slice(at + 1));
  });
  fc.assert(property, { numRuns: 500 });
});

test("stripBlock accepts arbitrary bytes only if they are well-formed", () => {
  const block = fc.string({ unit: fc.constantFrom(..."\r\n\0: \tab\xff"), maxLength: 24 });
  const pieces = fc.array(fc.constantFrom("\r\n", "a:", "b", ":", " ", "\t", "\r", "\n", "\0"));
  const any = fc.oneof(
    block,
    pieces.map((list) => list.join("")),
  );
  const property = fc.property(any, (text) => assertStrips(["a", "connection"], text));
  fc.assert(property, { numRuns: 2000 });
});
