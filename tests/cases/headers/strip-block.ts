import { HeaderStripper } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { equal } from "../../support/assert.js";
import { bytesOf, textOf } from "../../support/text.js";
import type { Cases } from "../case.js";

/** Asserts the result of stripping a block. */
export function leaves(rules: readonly string[], block: string, left: string): void {
  using stripper = new HeaderStripper(rules);
  equal(textOf(stripBlock(stripper, bytesOf(block))), left, block);
}

export const blocks: Cases = {
  "stripBlock accepts an empty block, and blocks with and without a closing empty line": () => {
    leaves(["x-*"], "", "");
    leaves(["x-*"], "\r\n", "\r\n");
    leaves(["x-*"], "x-a: 1\r\n", "");
    leaves(["x-*"], "x-a: 1\r\n\r\n", "\r\n");
    leaves(["x-*"], "a: 1\r\nx-a: 1\r\n", "a: 1\r\n");
  },

  "stripBlock keeps the order, the duplicates and every byte of the other fields": () => {
    leaves(
      ["x-*"],
      "B: 2\r\nX-A: 1\r\na:1\r\nb:\r\nx-b:\r\nx-c:\r\nA:\t\xff \r\n\r\n",
      "B: 2\r\na:1\r\nb:\r\nA:\t\xff \r\n\r\n",
    );
    const cookies = "Set-Cookie: a=1\r\nset-cookie: b=2\r\nSet-Cookie: a=1\r\n";
    leaves(["x-a"], `x-a: 1\r\n${cookies}X-A: 2\r\n`, cookies);
  },

  "stripBlock keeps or removes folded lines with their field": () => {
    leaves(
      ["x-a"],
      "a: 1\r\n x-a: 2\r\nx-a: 3\r\n\tb: 4\r\n \r\nc: 5\r\n",
      "a: 1\r\n x-a: 2\r\nc: 5\r\n",
    );
  },

  "stripBlock returns a view of the start of the block": () => {
    using stripper = new HeaderStripper(["x-a"]);
    for (const text of ["b: 1\r\nx-a: 2\r\nc: 3\r\n", "b: 1\r\n", "x-a: 1\r\n"]) {
      const block = bytesOf(text);
      const left = stripBlock(stripper, block);
      equal(left.buffer === block.buffer, true, "is of the same buffer");
      equal(left.byteOffset, block.byteOffset, "offset");
    }
  },

  "stripBlock does not change bytes of the buffer outside the block": () => {
    using stripper = new HeaderStripper(["x-a"]);
    const [before, behind] = ["GET / HTTP/1.1\r\n", "body"];
    const buffer = bytesOf(`${before}x-a: 1\r\nb: 2\r\n\r\n${behind}`);
    const left = stripBlock(stripper, buffer.subarray(before.length, -behind.length));
    equal(textOf(left), "b: 2\r\n\r\n");
    equal(textOf(buffer).startsWith(before), true, "what is before the block stays");
    equal(textOf(buffer).endsWith(behind), true, "what is behind the block stays");
  },

  "stripBlock strips blocks of any size": () => {
    using stripper = new HeaderStripper(["x-a"]);
    for (const count of [1, 4000, 5000, 100_000]) {
      const block = bytesOf("x-a: 1\r\nb: 2\r\n".repeat(count));
      equal(textOf(stripBlock(stripper, block)) === "b: 2\r\n".repeat(count), true, `${count}`);
    }
  },
};
