/** The packed command, installed by npm. */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

import { minutes } from "../support/trials.js";
import { emptyFolder, TARBALLS } from "./support/project.js";

test("has man pages in a global installation", minutes({ all: 2 }), async () => {
  const folder = emptyFolder();
  const args = ["install", "--global", "--prefix", folder, "--no-audit", "--no-fund"];
  await promisify(execFile)("npm", [...args, ...TARBALLS]);
  const pages = readdirSync(join(folder, "share/man/man1"));
  expect(pages).toContain("hedgerow.1");
  expect(pages).toContain("hedgerow-paths-build.1");
});
