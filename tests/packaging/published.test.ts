/** The tarballs: what they say of themselves is so, and they hold what they say. */
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { copyOf, emptyFolder, PATIENCE, packageFolder, SUITE } from "./support/project.js";
import { run, tool } from "./support/tool.js";

const PACKAGES = ["hedgerow", "@hedgerow/snapshot", "@hedgerow/cli"];

describe.each(PACKAGES)("%s", { timeout: PATIENCE }, (name) => {
  test("is what was packed, not the folder that it was packed from", () => {
    const folder = packageFolder(name);
    expect(lstatSync(folder).isSymbolicLink()).toBe(false);
    expect(realpathSync(folder)).toBe(join(realpathSync(SUITE), "node_modules", name));
    const names = readdirSync(folder, { recursive: true }).map(String);
    expect(names).toContain("LICENSE-MIT");
    const unwanted = /(^|\/)(src|test|\.inputs|tsconfig\.json)$/;
    const own = names.filter((name) => !name.startsWith("node_modules"));
    expect(own.filter((name) => unwanted.test(name))).toEqual([]);
  });

  test("has nothing that publint would speak of", async () => {
    const said = await run(packageFolder(name), tool("publint"), "--strict", "--pack", "false");
    expect(said).toContain("All good!");
  });
});

/**
 * Packages are ES modules alone: `require` gets the very same ones, in every Node that is supported, and
 * nothing is there twice. Of that, and of resolutions that know no `exports`, the profile does not speak;
 * `node.test.ts` and `types.test.ts` see to what is required.
 */
test.for(["hedgerow", "@hedgerow/snapshot"])(
  "the types of %s are right wherever they are resolved",
  {
    timeout: PATIENCE,
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

test("the command has no types to be wrong", () => {
  expect(existsSync(join(packageFolder("@hedgerow/cli"), "dist", "main.d.ts"))).toBe(false);
});
