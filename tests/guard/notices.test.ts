/** The packages that have others' code inside carry its licences, as these ask of every copy. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { checkNotices, NOTICES, withNotices } from "../../scripts/audit/notices.mjs";
import { embeddedIn } from "../../scripts/audit/shipped.mjs";
import { inOneLine, textsOf } from "../../scripts/audit/texts.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";

/** The files that npm would publish of a package. */
function packed(folder: string): string[] {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts", `--workspace=${folder}`];
  const [{ files }] = JSON.parse(
    execFileSync("npm", args, { cwd: inRoot(), encoding: "utf8", stdio: "pipe" }),
  );
  return files.map(({ path }: { path: string }) => path);
}

/** The notices of a package: who is listed, and the texts with those whose they are. */
function noticesOf(folder: string) {
  const [head = "", ...rest] = readFileSync(inRoot(folder, NOTICES), "utf8").split(/^=+\n/m);
  const texts = rest.flatMap((owners, index) =>
    index % 2 === 0 ? [{ owners: owners.trim().split("\n"), text: rest[index + 1] ?? "" }] : [],
  );
  return { listed: [...head.matchAll(/^ {2}(.+): .+$/gm)].map(([, name]) => name), texts };
}

test("they are the packages that have WebAssembly, and the command has none", () => {
  expect(withNotices()).toEqual(["js/edge", "js/snapshot"]);
});

test.each(["js/edge", "js/snapshot"])("what is packed of %s has its notices", (folder) => {
  expect(packed(folder)).toContain(NOTICES);
});

test.each(["js/edge", "js/snapshot"])(
  "the notices in %s name all that is inside, each with a text",
  (folder) => {
    const inside = embeddedIn(folder).map(({ name, version }) => `${name} ${version}`);
    const { listed, texts } = noticesOf(folder);
    expect(inside.length).toBeGreaterThan(10);
    expect(listed).toEqual(inside);
    const owners = new Set(texts.flatMap(({ owners }) => owners));
    expect([...owners].sort()).toEqual([...inside].sort());
  },
);

test("the notices are as the audit writes them, and published", checkNotices);

test("the notices have each text once", () => {
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
])("in %s, the text of %s says whose it is", (folder, name, holder) => {
  const own = noticesOf(folder).texts.filter(({ owners }) =>
    owners.some((owner) => owner.startsWith(`${name} `)),
  );
  expect(own.map(({ text }) => text).join("\n")).toContain(holder);
});

const BSD = "Redistributions in binary form must ...\nNeither the name of ...";

/** A part whose sources have these files. */
function part(licence: string, files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-notices-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const paths = Object.entries(files).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
  return { name: "some", version: "1.0.0", licence, files: paths };
}

test("the texts are those of the licence that is taken, whatever its file is called", () => {
  const files = { COPYING: "GNU GENERAL PUBLIC LICENSE", LICENSE: BSD };
  expect(textsOf(part("GPL-2.0-only OR BSD-3-Clause", files))).toEqual([BSD]);
});

test("what Apache-2.0 has passed on goes with it", () => {
  const apache = "Apache License\n  Version 2.0, January 2004";
  const files = { "LICENSE-APACHE": apache, NOTICE: "Made by some." };
  expect(textsOf(part("Apache-2.0", files))).toEqual([apache, "Made by some."]);
});

test("what comes without the text of its licence, or does not say whose it is, fails", () => {
  expect(() => textsOf(part("MIT", { LICENSE: BSD }))).toThrow("some 1.0.0: found no text of MIT");
  const blank = { MIT: "Copyright (c) <year> <copyright holders>" };
  expect(() => textsOf(part("MIT", blank))).toThrow("does not say whose it is");
});
