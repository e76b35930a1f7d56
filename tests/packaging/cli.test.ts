/** The command, from its tarball, as `npx` finds it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PathFilter } from "hedgerow";
import { expect, test } from "vitest";

import { emptyFolder, PATIENCE } from "./support/project.js";
import { run } from "./support/tool.js";

const hedgerow = (folder: string, ...args: string[]) =>
  run(folder, ["npx"], "--no-install", "hedgerow", ...args);

test("it helps", { timeout: PATIENCE }, async () => {
  const help = await hedgerow(emptyFolder(), "--help");
  for (const command of ["paths", "snapshot", "cache"]) expect(help).toContain(`  ${command} `);
});

test("it builds the filter of a list of paths", { timeout: PATIENCE }, async () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, "paths.txt"), "/known\n/blog/*\n");
  await hedgerow(folder, "paths", "build", "paths.txt", "-o", "paths.filter");
  using filter = PathFilter.parse(readFileSync(join(folder, "paths.filter")));
  expect(filter.params.bloom.n).toBe(2);
  expect([filter.has("/known"), filter.has("/unknown")]).toEqual([true, false]);
});

test("it makes a snapshot, and restores it", { timeout: PATIENCE }, async () => {
  const folder = emptyFolder();
  const image = Buffer.alloc(2 ** 20, "hedgerow");
  writeFileSync(join(folder, "image"), image);
  await hedgerow(folder, "snapshot", "create", "image", "image.vhs", "--workers", "2");
  await hedgerow(folder, "snapshot", "restore", "image.vhs", "restored", "--workers", "2");
  expect(readFileSync(join(folder, "restored")).equals(image)).toBe(true);
});
