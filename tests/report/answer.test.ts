/** Answers have their figures from records only. */
import { expect, test } from "vitest";

import { answerOf } from "../../bench/report/answer.mjs";
import { figuresOf } from "../../bench/report/figures.mjs";
import { record, result } from "./support/records.js";

const FIGURES = figuresOf([
  record([result("hedgerow", 200), result("trie-hard", 150), result("fst", 4000)]),
]);
const AT = ["headers-clear", "real"] as const;

test("writes values, ranges and ratios into an answer", () => {
  const text = answerOf(FIGURES, ({ at, range }) => {
    const all: [string, string, string][] = [
      [...AT, "fst"],
      [...AT, "hedgerow"],
    ];
    return `${at(...AT, "fst").ours}; ${range(all)};
      ${at(...AT).times("trie-hard")}.`;
  });
  expect(text).toBe("4.00 µs; 200 ns to 4.00 µs; 0.75 ×.\n");
});

test("names the missing figures instead of an answer", () => {
  const text = answerOf(FIGURES, ({ at }) => `It takes ${at(...AT, "phf").ours}.`);
  expect(text).toBe("Not in this record: headers-clear | real | phf.\n");
});
