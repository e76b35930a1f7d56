import { HeaderStripper } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { equal, refused } from "../../support/assert.js";
import { bytesOf, textOf } from "../../support/text.js";
import type { Cases } from "../case.js";

/** A malformed end of a block, and the offset of the fault in it. */
type Malformed = readonly [end: string, offset: number];

const BEGINNINGS = ["", "x-a: 1\r\na: 2\r\n", "connection: b, c\r\n"];

/** Asserts that blocks with these ends are refused at their fault and not changed. */
function refusedEnds(
  message: string,
  ends: readonly Malformed[],
  beginnings: readonly string[] = BEGINNINGS,
): void {
  using stripper = new HeaderStripper(["x-*", "connection"]);
  for (const [end, offset] of ends) {
    for (const beginning of beginnings) {
      // Part of a larger buffer, which must not change either.
      const buffer = bytesOf(`before${beginning}${end}behind`);
      const before = textOf(buffer);
      const block = buffer.subarray("before".length, -"behind".length);
      const where = `at byte ${beginning.length + offset}`;
      refused(
        () => stripBlock(stripper, block),
        "ERR_FIELD_BLOCK",
        "field block: ",
        message,
        where,
      );
      equal(textOf(buffer), before, "the refused block");
    }
  }
  equal(textOf(stripBlock(stripper, bytesOf("x-a: 1\r\nb: 2\r\n"))), "b: 2\r\n", "the next block");
}

export const fieldBlockErrors: Cases = {
  "stripBlock refuses an LF without a CR": () => {
    refusedEnds("expected CR before LF, found LF alone", [
      ["b: 1\n", 4],
      ["b: 1\nc: 2\r\n", 4],
      ["b\n: 1\r\n", 1],
      ["\n", 0],
      ["b: 1\r\n c\n\r\n", 8],
    ]);
  },

  "stripBlock refuses a CR without an LF": () => {
    refusedEnds("expected LF after CR, found another byte", [
      ["b: 1\rc\r\n", 4],
      ["b: 1\r\r\n", 4],
      ["b\r: 1\r\n", 1],
      ["\rb: 1\r\n", 0],
    ]);
  },

  "stripBlock refuses a NUL": () => {
    refusedEnds("expected no NUL, found one", [
      ["b: \0\r\n", 3],
      ["b\0: 1\r\n", 1],
    ]);
  },

  "stripBlock refuses a line without a colon": () => {
    refusedEnds("expected a colon after the field name, found the line's end", [
      ["b\r\n", 1],
      ["b\r\nc: 1\r\n", 1],
    ]);
  },

  "stripBlock refuses white space before the colon": () => {
    refusedEnds("expected a colon after the field name, found white space", [
      ["b : 1\r\n", 1],
      ["b\t: 1\r\n", 1],
      ["b c: 1\r\n", 1],
    ]);
  },

  "stripBlock refuses a last line without CR LF": () => {
    refusedEnds("expected CR LF at the end, found none", [
      ["b: 1", 4],
      ["b: 1\r", 5],
      ["b: 1\r\n c", 8],
      ["b", 1],
      ["b\r", 2],
      ["\r", 1],
    ]);
  },

  "stripBlock refuses an empty name": () => {
    refusedEnds("expected a field name, found a colon", [[": 1\r\n", 0]]);
  },

  "stripBlock refuses an empty line before the end": () => {
    refusedEnds("expected the empty line last, found more after it", [
      ["\r\nb: 1\r\n", 0],
      ["b: 1\r\n\r\nc: 2\r\n", 6],
      ["b: 1\r\n\r\n\r\n", 6],
      ["b: 1\r\n\r\n c\r\n", 6],
    ]);
  },

  "stripBlock refuses white space that continues no field": () => {
    const message = "expected a field name, found white space with no field to continue";
    refusedEnds(
      message,
      [
        [" a: 1\r\n", 0],
        ["\ta: 1\r\n", 0],
      ],
      [""],
    );
  },

  "stripBlock refuses a name that is not a token": () => {
    const message = "expected a token character or a colon, found byte ";
    refusedEnds(`${message}0xc3`, [["b\xc3\xa9: 1\r\n", 1]]);
    refusedEnds(`${message}0x28`, [["b(c): 1\r\n", 1]]);
    refusedEnds(`${message}0x22`, [['"b": 1\r\n', 0]]);
    refusedEnds(`${message}0x7f`, [["\x7f: 1\r\n", 0]]);
  },

  "stripBlock accepts a block of 16 MiB, and refuses a longer one": () => {
    using stripper = new HeaderStripper(["x-a"]);
    const limit = 2 ** 24;
    const block = new Uint8Array(limit + 1).fill(0x61);
    block.set(bytesOf("a: "));
    block.set(bytesOf("\r\n"), limit - 2);
    refused(() => stripBlock(stripper, block), "ERR_FIELD_BLOCK", "at most 16 MiB");
    equal(stripBlock(stripper, block.subarray(0, limit)).length, limit);
  },

  "stripBlock refuses an argument that is not a Uint8Array": () => {
    using stripper = new HeaderStripper(["x-a"]);
    for (const block of ["x-a: 1\r\n", new Uint16Array(4), undefined, null]) {
      const found = "expected a Uint8Array, found ";
      refused(() => stripBlock(stripper, block as unknown as Uint8Array), "ERR_ARGUMENT", found);
    }
  },
};
