/** docs/architecture.md tells why each dependency is there: here that list is held to the manifests. */
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
} from "../support/manifests.js";

const document = documentAt("docs/architecture.md");

/** The rows below a heading: `name`, where that is told where it is used, and why. */
function listed(heading: string): string[][] {
  const rows = rowsOf(section(document, `### ${heading}`));
  return rows.map(([name = "", ...others]) => [name.replaceAll("`", ""), ...others]);
}

/** Each dependency once, and all places that use it. */
function grouped(all: readonly Dependency[], isPublished: boolean): string[] {
  const places = new Map<string, Set<string>>();
  for (const { name, place } of all.filter((each) => each.isPublished === isPublished)) {
    places.set(name, (places.get(name) ?? new Set()).add(place));
  }
  return [...places].map(([name, used]) => `${name}: ${[...used].sort().join(", ")}`).sort();
}

describe.each([
  ["Rust", cargoDependencies()],
  ["npm", npmDependencies()],
] as const)("%s", (ecosystem, all) => {
  test.each([
    ["in what is published", true],
    ["for development", false],
  ])("each dependency %s is listed with where it is used, and no other is", (what, isPublished) => {
    // If this differs, a row of the document is missing, or one too many.
    const found = listed(`${ecosystem}: ${what}`).map(([name, places]) => `${name}: ${places}`);
    expect(found.sort()).toEqual(grouped(all, isPublished));
  });
});

test.each([
  ["Tools from crates.io", cratesOfTools()],
  ["Debian", Object.values(PACKAGES)],
  ["Go", goPrograms()],
  ["Python", pythonPackages()],
])("%s: what is installed is listed, and nothing else is", (heading, installed) => {
  const found = listed(heading).map(([name]) => name);
  expect(found.sort()).toEqual([...new Set(installed)].sort());
});

test("each has a reason", () => {
  const dependencies = document.slice(document.indexOf("\n## Dependencies\n"));
  for (const row of rowsOf(dependencies)) {
    expect(row.at(-1)?.length, row[0]).toBeGreaterThan(4);
  }
});
