/** Every block of every document is run, and so is every new one. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { blocksOf } from "./blocks.js";
import { groupOf, markdownFiles } from "./documents.js";
import { expectReadable } from "./languages.js";
import { expectKnown } from "./repository.js";

const withBlocks = markdownFiles().filter((document) =>
  blocksOf(document).some(({ kind }) => kind !== "drawing"),
);

test("the documents that people begin with are among those that are run", () => {
  const first = ["README.md", "docs/guides/headers.md", "js/cli/README.md", "js/edge/README.md"];
  expect(withBlocks).toEqual(expect.arrayContaining(first));
});

test.for(withBlocks)("a test file runs the blocks of %s", (document) => {
  const group = groupOf(document);
  const path = fileURLToPath(new URL(`groups/${group}.test.ts`, import.meta.url));
  expect([group, existsSync(path)]).toEqual([expect.any(String), true]);
  expect(readFileSync(path, "utf8")).toContain(`runDocuments("${group}")`);
});

test("a block that nothing can read is an error", () => {
  expect(() => expectReadable("cobol", "STOP RUN.")).toThrow("cobol");
  expect(() => expectReadable("json", "{")).toThrow("node");
  expect(() => expectReadable("json", "{}")).not.toThrow();
});

test("a command of the repository that is not there is an error", () => {
  expect(() => expectKnown("npm run none")).toThrow("none");
  expect(() => expectKnown("npm run bench -- none-such")).toThrow("none-such");
  expect(() => expectKnown("cargo test -p hedgerow-none")).toThrow("hedgerow-none");
  expect(() => expectKnown("node_modules/.bin/vitest run tests/none")).toThrow("tests/none");
  expect(() => expectKnown("npm run build")).not.toThrow();
});
