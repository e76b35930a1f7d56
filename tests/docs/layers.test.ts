/** Who may refer to whom, as docs/architecture.md says: read off manifests and imports. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { cargoFolders } from "../support/manifests.js";

/** The sources of a folder, and of those in it. */
function sourcesOf(folder: string): string[] {
  const names = readdirSync(inRoot(folder), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`);
  expect(files.length, folder).toBeGreaterThan(0);
  return files;
}

/** An import or a re-export of anything but types, at the beginning or later. */
const IMPORT =
  /^import "([^"]+)"|^(?:import|export) (?!type\b)[^"';]* from "([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** What is a package's own, or Node's. */
const OWN = /^(\.|node:|wasm:)/;

/** What the sources of a folder import, but for what is theirs. */
function importsOf(folder: string, own = OWN): string[] {
  const found = sourcesOf(folder).flatMap((file) => {
    const source = readFileSync(inRoot(file), "utf8").replace(/^ *(\*|\/\/|\/\*).*$/gm, "");
    return [...source.matchAll(IMPORT)].map(
      ([, plain, named, late]) => plain ?? named ?? late ?? "",
    );
  });
  const others = found.filter((name) => !own.test(name));
  return [...new Set(others)].sort();
}

test("crates know no other crates but those that they convert for", () => {
  const folders = cargoFolders();
  expect(folders["crates/headers"]).toEqual([]);
  expect(folders["crates/paths"]).toEqual([]);
  expect(folders["crates/snapshot"]).toEqual([]);
  expect(folders["crates/edge-wasm"]).toEqual(["crates/headers", "crates/paths"]);
  expect(folders["crates/snapshot-wasm"]).toEqual(["crates/snapshot"]);
});

test("packages know no others but those that they are made for", () => {
  expect(importsOf("js/edge/src")).toEqual(["next/server.js"]);
  const s3 = ["@aws-sdk/client-s3", "@aws-sdk/s3-request-presigner"];
  expect(importsOf("js/snapshot/src")).toEqual([...s3, "koffi"]);
  const command = importsOf("js/cli/src").filter((name) => /hedgerow/.test(name));
  expect(command).toEqual(["@hedgerow/snapshot", "hedgerow", "hedgerow/node"]);
});

test("nothing that requests need refers to what builds filters", () => {
  const files = ["adapters", "headers", "paths"].flatMap((name) =>
    sourcesOf(`js/edge/src/${name}`),
  );
  const slim = ["slim", "requests", "instance", "node", "bundle"].map(
    (name) => `js/edge/src/entries/${name}.ts`,
  );
  for (const file of [...files, ...slim]) {
    expect(readFileSync(inRoot(file), "utf8"), file).not.toMatch(/from "[^"]*\/build(\/|\.js)/);
  }
});

test("cases of all engines refer to nothing that only one has", () => {
  const entries = ["hedgerow", "hedgerow/hono", "hedgerow/slim", "hedgerow/workers"];
  expect(importsOf("tests/cases", /^\./)).toEqual([...entries, "hono"]);
});
