import { HeaderStripper } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { equal, refused } from "../../support/assert.js";
import { bytesOf } from "../../support/text.js";
import type { Cases } from "../case.js";

/** Asserts that a freed stripper refuses every call. */
function assertFreed(stripper: HeaderStripper): void {
  const uses = [
    () => stripper.matches("x-a"),
    () => stripper.matches("accept"),
    () => stripper.strip(new Headers({ "x-a": "1" })),
    () => stripper.stripRaw(["x-a", "1"]),
    () => stripper.stripRaw([]),
    () => stripBlock(stripper, bytesOf("x-a: 1\r\n")),
  ];
  for (const use of uses) refused(use, "ERR_FREED", "HeaderStripper was used after free()");
}

export const lifetime: Cases = {
  "a freed stripper refuses every call, including for names that it has compared": () => {
    const stripper = new HeaderStripper(["x-a"]);
    stripper.matches("x-a");
    stripper.free();
    assertFreed(stripper);
  },

  "freeing a stripper twice is harmless": () => {
    const stripper = new HeaderStripper(["x-a"]);
    using other = new HeaderStripper(["x-b"]);
    stripper.free();
    stripper.free();
    stripper[Symbol.dispose]();
    assertFreed(stripper);
    equal(other.matches("x-b"), true);
  },

  "using frees a stripper at the end of its block": () => {
    let outside: HeaderStripper;
    {
      using stripper = new HeaderStripper(["x-a"]);
      outside = stripper;
      equal(stripper.matches("x-a"), true);
    }
    assertFreed(outside);
  },

  "freeing one stripper does not affect others": () => {
    const strippers = Array.from(
      { length: 50 },
      (_, n) => new HeaderStripper([`x-${n}`, `y-${n}*`]),
    );
    for (const stripper of strippers.filter((_, n) => n % 2 === 0)) stripper.free();
    const later = Array.from({ length: 25 }, (_, n) => new HeaderStripper([`z-${n}`]));
    for (const [n, stripper] of strippers.entries()) {
      if (n % 2 === 0) continue;
      const names = [`x-${n}`, `y-${n}-a`, `x-${n + 1}`, `z-${n}`];
      equal(
        names.filter((name) => stripper.matches(name)),
        [`x-${n}`, `y-${n}-a`],
      );
      stripper.free();
    }
    for (const stripper of later) stripper.free();
  },
};
