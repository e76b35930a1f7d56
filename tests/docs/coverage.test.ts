/** Every block of every document runs, including those of new documents. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { documentsWithBlocks, groupOf } from "./documents.js";
import { expectKnown } from "./known-commands.js";
import { expectReadable } from "./languages.js";

const withBlocks = documentsWithBlocks();

test("the documents that readers start with are run", () => {
  const first = ["README.md", "docs/guides/headers.md", "js/cli/README.md", "js/edge/README.md"];
  expect(withBlocks).toEqual(expect.arrayContaining(first));
});

test.for(withBlocks)("a test file runs the blocks of %s", (document) => {
  const group = groupOf(document);
  const path = fileURLToPath(new URL(`groups/${group}.test.ts`, import.meta.url));
  expect([group, existsSync(path)]).toEqual([expect.any(String), true]);
  expect(readFileSync(path, "utf8")).toContain(`runDocuments("${group}")`);
});

test("a block in an unknown language, or an invalid block, is an error", () => {
  expect(() => expectReadable("cobol", "STOP RUN.")).toThrow("cobol");
  expect(() => expectReadable("json", "{")).toThrow("node");
  expect(() => expectReadable("json", "{}")).not.toThrow();
});

test("a command that the repository does not have is an error", () => {
  expect(() => expectKnown("npm run none")).toThrow("none");
  expect(() => expectKnown("npm run bench -- none-such")).toThrow("none-such");
  expect(() => expectKnown("cargo test -p hedgerow-none")).toThrow("hedgerow-none");
  expect(() => expectKnown("node_modules/.bin/vitest run tests/none")).toThrow("tests/none");
  expect(() => expectKnown("kubectl apply --filename examples/none.yaml")).toThrow("none.yaml");
  expect(() => expectKnown("npm run build")).not.toThrow();
});
