/** Packages that contain third-party code carry its licence texts. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import {
  checkNotices,
  inOneLine,
  NOTICES,
  textsOf,
  withNotices,
} from "../../scripts/audit/notices.mjs";
import { embeddedIn } from "../../scripts/audit/shipped.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { packageFolder } from "../packaging/support/project.js";

/** Parses the notices of a package: the components listed, and the texts with their owners. */
function noticesOf(folder: string) {
  const [head = "", ...rest] = readFileSync(inRoot(folder, NOTICES), "utf8").split(/^=+\n/m);
  const texts = rest.flatMap((owners, index) =>
    index % 2 === 0 ? [{ owners: owners.trim().split("\n"), text: rest[index + 1] ?? "" }] : [],
  );
  return { listed: [...head.matchAll(/^ {2}(.+): .+$/gm)].map(([, name]) => name), texts };
}

test("gives notices to the packages with WebAssembly, and none to the command", () => {
  expect(withNotices()).toEqual(["js/edge", "js/snapshot"]);
});

test.each([
  ["js/edge", "hedgerow"],
  ["js/snapshot", "@hedgerow/snapshot"],
])("packs the notices of %s into the tarball of %s", (folder, name) => {
  const published = readFileSync(join(packageFolder(name), NOTICES), "utf8");
  expect(published).toBe(readFileSync(inRoot(folder, NOTICES), "utf8"));
});

test.each(["js/edge", "js/snapshot"])(
  "lists every component and its licence text in the notices of %s",
  (folder) => {
    const inside = embeddedIn(folder).map(({ name, version }) => `${name} ${version}`);
    const { listed, texts } = noticesOf(folder);
    expect(inside.length).toBeGreaterThan(10);
    expect(listed).toEqual(inside);
    const owners = new Set(texts.flatMap(({ owners }) => owners));
    expect([...owners].sort()).toEqual([...inside].sort());
  },
);

test("keeps the notices up to date and published", checkNotices);

test("lists each licence text once", () => {
  for (const folder of withNotices()) {
    const texts = noticesOf(folder).texts.map(({ text }) => inOneLine(text));
    expect(new Set(texts).size).toBe(texts.length);
  }
});

test.each([
  ["js/snapshot", "zstd (C)", "Copyright (c) Meta Platforms, Inc. and affiliates."],
  ["js/snapshot", "blake3", "Apache License"],
  ["js/snapshot", "dlmalloc", "Copyright (c) 2014 Alex Crichton"],
  ["js/edge", "talc", "Shaun Beautement"],
  ["js/edge", "compiler_builtins", "Apache 2.0 License"],
  ["js/edge", "Rust's standard library", "The Rust Project Developers"],
])("names the copyright holder in the notices of %s: %s", (folder, name, holder) => {
  const own = noticesOf(folder).texts.filter(({ owners }) =>
    owners.some((owner) => owner.startsWith(`${name} `)),
  );
  expect(own.map(({ text }) => text).join("\n")).toContain(holder);
});

const BSD = "Redistributions in binary form must ...\nNeither the name of ...";

/** Returns a component with these licence files. */
function part(licence: string, files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-notices-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const paths = Object.entries(files).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
  return { name: "some", version: "1.0.0", licence, files: paths };
}

test("finds the text of the chosen licence whatever its file name", () => {
  const files = { COPYING: "GNU GENERAL PUBLIC LICENSE", LICENSE: BSD };
  expect(textsOf(part("GPL-2.0-only OR BSD-3-Clause", files))).toEqual([BSD]);
});

test("passes on the NOTICE file of Apache-2.0", () => {
  const apache = "Apache License\n  Version 2.0, January 2004";
  const files = { "LICENSE-APACHE": apache, NOTICE: "Made by some." };
  expect(textsOf(part("Apache-2.0", files))).toEqual([apache, "Made by some."]);
});

test("rejects a component without a licence text or a copyright holder", () => {
  expect(() => textsOf(part("MIT", { LICENSE: BSD }))).toThrow("some 1.0.0: found no text of MIT");
  const blank = { MIT: "Copyright (c) <year> <copyright holders>" };
  expect(() => textsOf(part("MIT", blank))).toThrow("names no copyright holder");
});
