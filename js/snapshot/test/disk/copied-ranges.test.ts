/** Every block of a packed copy is found where the last copy of it was written. */
import { expect, test } from "vitest";

import fc from "../../../../tests/support/fast-check.js";
import { packedRanges, rangesOf } from "../../src/disk/copied-ranges.js";
import { BlockSet } from "../../src/format/block-set.js";

const [BLOCK, BLOCKS] = [4096, 40];
/** The last block is incomplete. */
const SIZE = BLOCKS * BLOCK - 1000;

const sets = fc.uniqueArray(fc.nat(BLOCKS - 1)).map((blocks) => {
  const set = BlockSet.of(SIZE);
  for (const block of blocks) set.add(block, block + 1);
  return set;
});

test("a block is read where the second copy has it, else where the first has it", () => {
  fc.assert(
    fc.property(sets, sets, (first, second) => {
      const copy: string[] = [];
      const write = (set: BlockSet, name: string) => {
        for (const { start, end, position } of rangesOf(set, SIZE, copy.length)) {
          expect(position).toBe(copy.length);
          for (let at = start; at < end; at += 1) copy.push(`${name} ${at}`);
        }
      };
      write(first, "first");
      write(second, "second");
      const found: string[] = [];
      for (const { start, end, position } of packedRanges(first, second, SIZE))
        found.push(...copy.slice(position, position + end - start));
      const expected = Array.from({ length: SIZE }, (_, at) => {
        const block = Math.floor(at / BLOCK);
        if (second.has(block)) return [`second ${at}`];
        return first.has(block) ? [`first ${at}`] : [];
      });
      expect(found).toEqual(expected.flat());
    }),
    { numRuns: 20 },
  );
});
