/** The tarballs: their contents and exports. */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { PACKAGE_FOLDERS } from "../../scripts/lib/suites.mjs";
import { packageFolder, SUITE, TEST_TIMEOUT } from "./support/project.js";
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

test("publishes the command as a bundle and its man pages, without types", () => {
  const dist = join(packageFolder("@hedgerow/cli"), "dist");
  expect(readdirSync(dist).sort()).toEqual(["chunks", "main.js", "man"]);
  expect(readdirSync(join(dist, "chunks")).filter((name) => !name.endsWith(".js"))).toEqual([]);
});
