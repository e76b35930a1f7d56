/** The audit of dependencies: licences, lockfiles and packed crates. */
import { expect, test } from "vitest";
import { wrongEntries } from "../../scripts/audit/lockfiles.mjs";
import { chosen } from "../../scripts/audit/notices.mjs";
import { checkOwnCrates, foreignFiles } from "../../scripts/lib/crates.mjs";

const ALLOWED = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-3-Clause"];

test.each([
  ["MIT", ["MIT"]],
  ["MIT OR GPL-3.0-only", ["MIT"]],
  ["GPL-3.0-only/MIT", ["MIT"]],
  ["GPL-2.0-only OR BSD-3-Clause", ["BSD-3-Clause"]],
  ["Apache-2.0 WITH LLVM-exception", ["Apache-2.0 WITH LLVM-exception"]],
  ["(MIT OR GPL-3.0-only) AND Apache-2.0", ["MIT", "Apache-2.0"]],
  ["GPL-3.0-only AND MIT OR MIT", ["MIT"]],
])("chooses an allowed licence from %s", (expression, expected) => {
  expect(chosen(expression, ALLOWED)).toEqual(expected);
});

test.each([
  ["Apache-2.0 OR MIT", ["MIT"]],
  ["BSD-3-Clause OR Apache-2.0 WITH LLVM-exception OR Apache-2.0", ["Apache-2.0"]],
  ["(BSD-3-Clause OR MIT) AND (Apache-2.0 OR MIT)", ["MIT"]],
  ["MIT AND BSD-3-Clause OR Apache-2.0", ["Apache-2.0"]],
])("chooses the preferred licence from %s", (expression, expected) => {
  expect(chosen(expression, ALLOWED)).toEqual(expected);
});

test.each([
  "",
  "none",
  "GPL-3.0-only",
  "MIT AND GPL-3.0-only",
  "GPL-3.0-only AND (MIT OR Apache-2.0)",
  "MIT AND (GPL-3.0-only OR LGPL-3.0-only)",
  "GPL-2.0-only WITH Classpath-exception-2.0",
  "BSD-3-Clause WITH LLVM-exception",
  "SEE LICENSE IN LICENSE",
  "MIT GPL-3.0-only",
  "(MIT",
])("finds no allowed licence in %j", (expression) => {
  expect(chosen(expression, ALLOWED)).toBeUndefined();
});

const WHOLE = { version: "1.0.0", integrity: "sha512-AAAA", license: "MIT" };

test("accepts complete registry entries and bundled packages", () => {
  const bundled = { version: "1.0.0", license: "MIT", inBundle: true };
  expect(wrongEntries([["node_modules/a", WHOLE]])).toEqual([]);
  expect(wrongEntries([["node_modules/a/node_modules/b", bundled]])).toEqual([]);
});

test("names packages without a digest or licence, or from elsewhere", () => {
  const resolved = "git+ssh://git@example.com/c.git";
  expect(
    wrongEntries([
      ["node_modules/a", { ...WHOLE, integrity: "" }],
      ["node_modules/b", { ...WHOLE, license: "" }],
      ["node_modules/c", { ...WHOLE, resolved }],
      ["node_modules/d", WHOLE],
    ]),
  ).toEqual([
    "node_modules/a: without a digest",
    "node_modules/b: without a licence",
    `node_modules/c: from ${resolved}`,
  ]);
});

test("names third-party files in a packed crate by folder, language and copyright notice", () => {
  const sources: Record<string, string> = {
    "src/lib.rs": "//! Ours.",
    "examples/shown.rs": "fn main() {}",
    "src/hash.rs": "// Copyright (c) 2014 Someone Else",
  };
  const others = ["vendor/zstd.c", "src/zstd.c", "LICENSE-ZSTD"];
  const files = ["Cargo.toml", "LICENSE-MIT", "README.md", ...Object.keys(sources), ...others];
  const foreign = foreignFiles(files, (file) => sources[file] ?? "");
  expect(foreign).toEqual(["src/hash.rs", ...others]);
});

test("publishes crates that contain only their own sources", checkOwnCrates);
