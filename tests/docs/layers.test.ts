/** Checks that imports follow the layers in docs/architecture.md, as read from manifests and sources. */
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { cargoFolders } from "./manifests.js";

/**
 * The rooms of js/snapshot/src, from the top: folders, and files of the root without their extension. A room may
 * import values and types from the lines below its own, and not from the other rooms in its line.
 */
const SNAPSHOT_ROOMS: readonly (readonly string[])[] = [
  ["index", "opentelemetry"],
  ["store"],
  [
    ...["create-snapshot", "flatten-snapshot", "inspect-snapshot", "open-snapshot"],
    ...["reader", "restore-snapshot", "verify-snapshot"],
  ],
  ["disk"],
  ["nbd"],
  ["delta"],
  ["cache"],
  ["location"],
  ["encode", "fetch"],
  ["decode"],
  ["services"],
  ["http"],
  ["workers"],
  ["local"],
  ["format"],
  ["wasm"],
  ["abort", "events", "progress"],
  ["check"],
  ["error"],
];

/** The rooms of js/fleet/src, in the same way. */
const FLEET_ROOMS: readonly (readonly string[])[] = [
  ["index"],
  ["fill-lease", "shared-tier"],
  ["residency"],
  ["placement"],
  ["check"],
  ["error"],
];

/** Returns the TypeScript sources of a folder and its subfolders. */
function sourcesOf(folder: string): string[] {
  const names = readdirSync(inRoot(folder), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`);
  expect(files.length, folder).toBeGreaterThan(0);
  return files;
}

/** Matches static and dynamic imports, and re-exports. */
const IMPORT =
  /^import "([^"]+)"|^(?:import|export) ([^"';]*) from "([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** Matches a list of names that are all types. */
const TYPES_ONLY = /^type\b|^\{(?:\s*type\s[^,}]*,?)+\s*\}$/;

/** Returns the modules that a source imports, or those alone from which it imports values. */
function importsOf(file: string, of: "all" | "values"): string[] {
  const source = readFileSync(inRoot(file), "utf8").replace(/^ *(\*|\/\/|\/\*).*$/gm, "");
  return [...source.matchAll(IMPORT)]
    .filter(([, , names = ""]) => of === "all" || !TYPES_ONLY.test(names.trim()))
    .map(([, plain, , named, dynamic]) => plain ?? named ?? dynamic ?? "");
}

/** Matches modules of the same package, and of Node. */
const OWN = /^(\.|node:|wasm:)/;

/** Returns the packages from which the sources of a folder import values. */
function packagesOf(folder: string, own = OWN): string[] {
  const found = sourcesOf(folder).flatMap((file) => importsOf(file, "values"));
  return [...new Set(found.filter((name) => !own.test(name)))].sort();
}

test("crates depend only on the crates that they wrap", () => {
  const folders = cargoFolders();
  expect(folders["crates/headers"]).toEqual([]);
  expect(folders["crates/paths"]).toEqual([]);
  expect(folders["crates/snapshot"]).toEqual([]);
  expect(folders["crates/edge-wasm"]).toEqual(["crates/headers", "crates/paths"]);
  expect(folders["crates/snapshot-wasm"]).toEqual(["crates/snapshot"]);
});

test("packages import only the packages that they are made for", () => {
  expect(packagesOf("js/edge/src")).toEqual(["next/server.js"]);
  const s3 = ["@aws-sdk/client-s3", "@aws-sdk/s3-request-presigner"];
  const clouds = ["@azure/identity", "@azure/storage-blob", "@google-cloud/storage"];
  expect(packagesOf("js/snapshot/src")).toEqual(
    [...s3, ...clouds, "koffi", "proxy-from-env"].sort(),
  );
  expect(packagesOf("js/fleet/src")).toEqual([]);
  const command = packagesOf("js/cli/src").filter((name) => /hedgerow/.test(name));
  expect(command).toEqual([
    ...["@hedgerow/fleet", "@hedgerow/snapshot", "hedgerow", "hedgerow/node"],
  ]);
});

test.each([
  ["js/snapshot", SNAPSHOT_ROOMS],
  ["js/fleet", FLEET_ROOMS],
])("the rooms of %s/src import only from the rooms below them", (folder, rooms) => {
  const root = `${folder}/src`;
  const levels = new Map(rooms.flatMap((line, level) => line.map((room) => [room, level])));
  const roomOf = (path: string) => posix.relative(root, path).split("/")[0]?.split(".")[0] ?? "";
  const levelOf = (path: string) => levels.get(roomOf(path));
  const files = sourcesOf(root).filter((file) => !file.endsWith(".d.ts"));
  expect(new Set(files.map(roomOf))).toEqual(new Set(levels.keys()));

  const upward: string[] = [];
  let inward = 0;
  for (const file of files) {
    for (const name of importsOf(file, "all").filter((name) => name.startsWith("."))) {
      const target = posix.join(posix.dirname(file), name);
      // The glue of WebAssembly modules lies outside src, and imports nothing.
      if (roomOf(target) === roomOf(file) || target.startsWith(`${folder}/wasm/`)) continue;
      const [from, to] = [levelOf(file) ?? Infinity, levelOf(target) ?? -1];
      if (to > from) inward += 1;
      else upward.push(`${posix.relative(root, file)} imports ${posix.relative(root, target)}`);
    }
  }
  expect(upward).toEqual([]);
  expect(inward).toBeGreaterThan(files.length / 3);
});

test("requests never load the code that builds filters", () => {
  const files = ["adapters", "block", "headers", "paths"].flatMap((name) =>
    sourcesOf(`js/edge/src/${name}`),
  );
  const slim = ["slim", "requests", "block", "node", "bundle"].map(
    (name) => `js/edge/src/entries/${name}.ts`,
  );
  for (const file of [...files, ...slim]) {
    expect(readFileSync(inRoot(file), "utf8"), file).not.toMatch(/from "[^"]*\/build(\/|\.js)/);
  }
});

test("cases for all engines import nothing that only one engine has", () => {
  const entries = ["", "/block", "/hono", "/slim", "/workers"].map((name) => `hedgerow${name}`);
  expect(packagesOf("tests/cases", /^\./)).toEqual([...entries, "hono"]);
});
