/** docs/security.md lists the limits; these tests compare the list with the constants in the code. */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { documentAt, rowsOf, section } from "../support/document.js";

const rows = rowsOf(section(documentAt("docs/security.md"), "## Limits")).map(
  ([constant = "", file = ""]) => [constant.replaceAll("`", ""), file] as const,
);

test("lists limits of each package and crate", () => {
  const folders = new Set(rows.map(([, file]) => file.split("/").slice(0, 2).join("/")));
  const owners = ["crates/headers", "crates/paths", "crates/snapshot"];
  expect([...folders].sort()).toEqual([...owners, "js/cli", "js/edge", "js/fleet", "js/snapshot"]);
});

test.each(rows)("lists %s as it is in %s", (constant, file) => {
  expect(existsSync(inRoot(file)), file).toBe(true);
  // Without the types of Rust constants.
  const code = readFileSync(inRoot(file), "utf8").replace(/^(.*const \w+): [\w<>, ]+ =/gm, "$1 =");
  expect(code).toContain(`const ${constant};`);
});

test("lists every limit that the crates export", () => {
  const listed = new Set(rows.map(([constant]) => constant.split(" ")[0]));
  const files = ["headers/src/rule", "headers/src/field_block", "paths/src/limits"];
  for (const file of [...files, "snapshot/src/limits"]) {
    const source = readFileSync(inRoot("crates", `${file}.rs`), "utf8");
    for (const [, name] of source.matchAll(/^pub const (MAX_\w+|MIN_\w+|\w+_SIZE)\b/gm)) {
      expect(listed, `${file}.rs`).toContain(name);
    }
  }
});
