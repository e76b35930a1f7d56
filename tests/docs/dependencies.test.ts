/** docs/architecture.md says why each dependency is there; these tests compare its tables with the manifests. */
import { describe, expect, test } from "vitest";

import { PACKAGES } from "../../scripts/lib/debian.mjs";
import { documentAt, rowsOf, section } from "../support/document.js";
import {
  cargoDependencies,
  cratesOfTools,
  type Dependency,
  goPrograms,
  npmDependencies,
  pythonPackages,
} from "./manifests.js";

const document = documentAt("docs/architecture.md");

/** The names in the rows below a heading. */
function listed(heading: string): string[] {
  const rows = rowsOf(section(document, `### ${heading}`));
  return rows.map(([name = ""]) => name.replaceAll("`", "")).sort();
}

/** The name of each dependency, once. */
function namesOf(all: readonly Dependency[], isPublished: boolean): string[] {
  const some = all.filter((each) => each.isPublished === isPublished);
  return [...new Set(some.map(({ name }) => name))].sort();
}

describe.each([
  ["Rust", cargoDependencies()],
  ["npm", npmDependencies()],
] as const)("%s", (ecosystem, all) => {
  test.each([
    ["published", true],
    ["development", false],
  ])("the table of %s dependencies lists those in the manifests", (what, isPublished) => {
    expect(listed(`${ecosystem}: ${what}`)).toEqual(namesOf(all, isPublished));
  });
});

test.each([
  ["Tools from crates.io", cratesOfTools()],
  ["Debian", Object.values(PACKAGES)],
  ["Go", goPrograms()],
  ["Python", pythonPackages()],
])("the table of %s lists what is installed", (heading, installed) => {
  expect(listed(heading)).toEqual([...new Set(installed)].sort());
});

test("each dependency has a reason", () => {
  const dependencies = document.slice(document.indexOf("\n## Dependencies\n"));
  for (const row of rowsOf(dependencies)) {
    expect(row.at(-1)?.length, row[0]).toBeGreaterThan(4);
  }
});
