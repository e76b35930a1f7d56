/** The tarballs: their contents, exports and types. */
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { PACKAGE_FOLDERS } from "../../scripts/lib/suites.mjs";
import { copyOf, emptyFolder, packageFolder, SUITE, TEST_TIMEOUT } from "./support/project.js";
import { run, tool } from "./support/tool.js";

describe.each(Object.keys(PACKAGE_FOLDERS))("%s", { timeout: TEST_TIMEOUT }, (name) => {
  test("is installed from its tarball, without sources", () => {
    const folder = packageFolder(name);
    expect(lstatSync(folder).isSymbolicLink()).toBe(false);
    expect(realpathSync(folder)).toBe(join(realpathSync(SUITE), "node_modules", name));
    const names = readdirSync(folder, { recursive: true }).map(String);
    expect(names).toContain("LICENSE-MIT");
    const unwanted = /(^|\/)(src|test|\.inputs|tsconfig\.json)$/;
    const own = names.filter((name) => !/^(node_modules|dist\/templates)\b/.test(name));
    expect(own.filter((name) => unwanted.test(name))).toEqual([]);
  });

  test("passes publint", async () => {
    const output = await run(packageFolder(name), tool("publint"), "--strict", "--pack", "false");
    expect(output).toContain("All good!");
  });
});

/**
 * Packages contain only ES modules. In every supported Node, `require` loads the same ones, without duplicates. The
 * profile ignores CommonJS and resolutions without `exports`; `node.test.ts` and `types.test.ts` cover `require`.
 */
test.for(["hedgerow", "@hedgerow/snapshot", "@hedgerow/fleet"])(
  "resolves the types of %s in every supported way",
  {
    timeout: TEST_TIMEOUT,
  },
  async (name) => {
    const folder = copyOf(name, emptyFolder());
    const args = ["--pack", "--profile", "esm-only", "--format", "json"];
    const { analysis } = JSON.parse(await run(folder, tool("attw"), ...args));
    const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    expect(Object.keys(analysis.entrypoints)).toEqual(Object.keys(exports));
    type Problem = { kind: string; resolutionKind?: string };
    const unexpected = (analysis.problems as Problem[]).filter(
      ({ kind, resolutionKind }) => kind !== "CJSResolvesToESM" && resolutionKind !== "node10",
    );
    expect(unexpected).toEqual([]);
  },
);

test("publishes no types of the command", () => {
  expect(existsSync(join(packageFolder("@hedgerow/cli"), "dist", "main.d.ts"))).toBe(false);
});
