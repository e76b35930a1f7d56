/** The packed package on runtimes that resolve packages themselves, by `import` and by `require`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";

import { inEngines, node24 } from "../../scripts/lib/paths.mjs";
import { packageFolder, project, TEST_TIMEOUT } from "./support/project.js";
import { expectProtected } from "./support/protected.js";
import { type Command, NODE, run, serve } from "./support/tool.js";

const DENO: Command = [
  inEngines(".bin", "deno"),
  ...["run", "--node-modules-dir=manual", "--no-lock", "--allow-net=127.0.0.1"],
];

const RUNTIMES: [name: string, command: Command][] = [
  ["Node 20", NODE],
  ["Node 24", [node24]],
  ["Deno", DENO],
  ["Bun", [inEngines(".bin", "bun"), "--no-install"]],
];

describe.each(RUNTIMES)("%s", { timeout: TEST_TIMEOUT }, (_name, command) => {
  test.for(["server.js", "server.cjs"])("strips headers and guards paths in %s", async (script) => {
    await expectProtected(await serve(project("server"), command, [script]));
  });
});

// From Node 22 on, importing `node:http` loads undici, which takes longer than loading the package.
test("loads neither members of Node's modules nor clients of services that it does not use", {
  timeout: TEST_TIMEOUT,
}, async () => {
  const code = `await import("@hedgerow/snapshot");
    console.log(process.moduleLoadList.filter((name) => /undici|webcrypto/.test(name)).join());`;
  const found = await run(project("server"), [node24], "--input-type=module", "-e", code);
  expect(found.trim()).toBe("");

  // Threads, whose scripts are in the bundle.
  const dist = join(packageFolder("@hedgerow/snapshot"), "dist");
  const names = readdirSync(dist, { recursive: true, encoding: "utf8" });
  const texts = names
    .filter((name) => name.endsWith(".js"))
    .map((name) => readFileSync(join(dist, name), "utf8"));
  expect(texts.join("")).toMatch(/\(process\.execPath\)\("node:http"\)/);
  expect(texts.join("")).toMatch(/import\("@azure\/storage-blob"\)/);
  const early = /(from|import) ?"(node:http"|@aws-sdk\/|@azure\/|@google-cloud\/)/;
  expect(texts.filter((text) => early.test(text))).toEqual([]);
});

/** Returns the entries of a package that are code. */
function entriesOf(name: string): string[] {
  const { exports } = JSON.parse(readFileSync(join(packageFolder(name), "package.json"), "utf8"));
  const subpaths = Object.keys(exports).filter((subpath) => !/\.(json|wasm)$/.test(subpath));
  return subpaths.map((subpath) => join(name, subpath));
}

test.for<[name: string, command: Command]>([
  ["Node 20", NODE],
  ["Node 24", [node24]],
])(
  "loads the same packed entries by import and by require on %s",
  {
    timeout: TEST_TIMEOUT,
  },
  async ([, command]) => {
    const entries = ["hedgerow", "@hedgerow/snapshot", "@hedgerow/fleet"].flatMap(entriesOf);
    expect(entries).toContain("hedgerow/undici");
    const found = JSON.parse(await run(project("server"), command, "identity.mjs", ...entries));
    const packed = (entry: string) => {
      const [name = ""] = /^(@[^/]+\/)?[^/]+/.exec(entry) ?? [];
      return expect.stringContaining(pathToFileURL(packageFolder(name)).href);
    };
    const expected = entries.map((entry) => [entry, { isSame: true, from: packed(entry) }]);
    expect(found).toEqual(Object.fromEntries(expected));
  },
);
