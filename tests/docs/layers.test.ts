/** The import rules of docs/architecture.md, checked against manifests and imports. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { cargoFolders } from "../support/manifests.js";

/** Returns the sources of a folder and its subfolders. */
function sourcesOf(folder: string): string[] {
  const names = readdirSync(inRoot(folder), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`);
  expect(files.length, folder).toBeGreaterThan(0);
  return files;
}

/** A static or dynamic import, or a re-export, of anything but types. */
const IMPORT =
  /^import "([^"]+)"|^(?:import|export) (?!type\b)[^"';]* from "([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** Imports within a package, and of Node's modules. */
const OWN = /^(\.|node:|wasm:)/;

/** Returns the external imports of the sources of a folder. */
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

test("only the -wasm crates depend on other crates, those that they wrap", () => {
  const folders = cargoFolders();
  expect(folders["crates/headers"]).toEqual([]);
  expect(folders["crates/paths"]).toEqual([]);
  expect(folders["crates/snapshot"]).toEqual([]);
  expect(folders["crates/edge-wasm"]).toEqual(["crates/headers", "crates/paths"]);
  expect(folders["crates/snapshot-wasm"]).toEqual(["crates/snapshot"]);
});

test("packages import only the packages that they are made for", () => {
  expect(importsOf("js/edge/src")).toEqual(["next/server.js"]);
  const s3 = ["@aws-sdk/client-s3", "@aws-sdk/s3-request-presigner"];
  expect(importsOf("js/snapshot/src")).toEqual([...s3, "koffi"]);
  const command = importsOf("js/cli/src").filter((name) => /hedgerow/.test(name));
  expect(command).toEqual(["@hedgerow/snapshot", "hedgerow", "hedgerow/node"]);
});

test("code that serves requests does not import code that builds filters", () => {
  const files = ["adapters", "headers", "paths"].flatMap((name) =>
    sourcesOf(`js/edge/src/${name}`),
  );
  const slim = ["slim", "requests", "instance", "node"].map(
    (name) => `js/edge/src/entries/${name}.ts`,
  );
  for (const file of [...files, ...slim, "js/edge/src/whole.ts"]) {
    expect(readFileSync(inRoot(file), "utf8"), file).not.toMatch(/from "[^"]*\/build(\/|\.js)/);
  }
});

test("cases import nothing that only one engine has", () => {
  const entries = ["hedgerow", "hedgerow/hono", "hedgerow/slim", "hedgerow/workers"];
  expect(importsOf("tests/cases", /^\./)).toEqual([...entries, "hono"]);
});
