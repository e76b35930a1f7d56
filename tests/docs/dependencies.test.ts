/** docs/architecture.md says why each published dependency is there; these tests compare its tables with the manifests. */
import { expect, test } from "vitest";

import { documentAt, rowsOf, section } from "../support/document.js";
import { cargoDependencies, npmDependencies } from "./manifests.js";

const document = documentAt("docs/architecture.md");

test.each([
  ["Rust", cargoDependencies()],
  ["npm", npmDependencies()],
] as const)("the table of %s lists the published dependencies with a reason", (ecosystem, all) => {
  const rows = rowsOf(section(document, `### ${ecosystem}: published`));
  const names = all.filter(({ isPublished }) => isPublished).map(({ name }) => name);
  const listed = rows.map(([name = ""]) => name.replaceAll("`", ""));
  expect(listed.toSorted()).toEqual([...new Set(names)].toSorted());
  for (const row of rows) expect(row.at(-1)?.length, row[0]).toBeGreaterThan(4);
});
