/** The packed command, run by `npx`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PathFilter } from "hedgerow";
import { expect, test } from "vitest";

import { emptyFolder, packageFolder, TEST_TIMEOUT } from "./support/project.js";
import { run } from "./support/tool.js";

const hedgerow = (folder: string, ...args: string[]) =>
  run(folder, ["npx"], "--no-install", "hedgerow", ...args);

test("lists its commands in the help", { timeout: TEST_TIMEOUT }, async () => {
  const help = await hedgerow(emptyFolder(), "--help");
  for (const command of ["paths", "snapshot", "cache"]) expect(help).toContain(`  ${command} `);
});

test("has the man pages that a global installation links", () => {
  const folder = packageFolder("@hedgerow/cli");
  const { man } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  expect(man).toContain("./dist/man/hedgerow.1");
  expect(man).toContain("./dist/man/hedgerow-paths-build.1");
  for (const page of man) expect(readFileSync(join(folder, page), "utf8"), page).toMatch(/^\.TH /m);
});

test("builds the filter of a list of paths", { timeout: TEST_TIMEOUT }, async () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, "paths.txt"), "/known\n/blog/*\n");
  await hedgerow(folder, "paths", "build", "paths.txt", "-o", "paths.filter");
  using filter = PathFilter.parse(readFileSync(join(folder, "paths.filter")));
  expect(filter.params.bloom?.n).toBe(2);
  expect([filter.has("/known"), filter.has("/unknown")]).toEqual([true, false]);
});

test("creates a snapshot and restores it", { timeout: TEST_TIMEOUT }, async () => {
  const folder = emptyFolder();
  const image = Buffer.alloc(2 ** 20, "hedgerow");
  writeFileSync(join(folder, "image"), image);
  await hedgerow(folder, "snapshot", "create", "image", "image.vhs", "--workers", "2");
  await hedgerow(folder, "snapshot", "restore", "image.vhs", "restored", "--workers", "2");
  expect(readFileSync(join(folder, "restored")).equals(image)).toBe(true);
});
