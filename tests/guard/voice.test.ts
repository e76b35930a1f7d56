/** The phrases that `npm run lint` rejects. */
import { expect, test } from "vitest";

import { findPhrases } from "../../scripts/lib/voice.mjs";

test.each([
  "It is four, unless it is said otherwise.",
  "A listener is told of images that come.",
  "It tells of progress.",
  "It has images go that nobody uses.",
  "A module is had by an import.",
  "None of them is to be had as a package.",
  "It stands for a number that there is not.",
  "It is refused, whoever serves it.",
  "It protects from who is on the way.",
  "It opens as many as pay.",
  "It counts how often in a row it fails.",
  "What is wrong is an error.",
  "It is bounded: what it calls absent is absent.",
  "Who was not wanted for long goes, and who waits is next.",
  "Pass a handler of one's own.",
  "It is made anew.",
])("finds the old voice in %j", (sentence) => {
  expect(findPhrases(`Plain words.\n\n${sentence}`, "prose")).toMatchObject([{ line: 3 }]);
});

test("finds a phrase across a line break and in every kind of comment", () => {
  const rust = "/// Stays as it is, unless\n/// it is said.\nfn unless_it_is_said() {}";
  expect(findPhrases(rust, "comments")).toMatchObject([{ line: 1, found: "unless it is said" }]);
  expect(findPhrases("/**\n * Is told of it.\n */", "comments")).toHaveLength(1);
  expect(findPhrases("// Is told of it.", "comments")).toHaveLength(1);
});

test("reads neither code blocks nor code, except for texts of the command", () => {
  const code = 'const text = "is told of it";';
  expect(findPhrases(`\`\`\`js\n${code}\n\`\`\``, "prose")).toEqual([]);
  expect(findPhrases(code, "comments")).toEqual([]);
  expect(findPhrases(code, "all")).toHaveLength(1);
});

test("accepts plain sentences", () => {
  const text = "The cache has to be open. What next? Images have their own records. Default: 4.";
  expect(findPhrases(text, "prose")).toEqual([]);
});
