/** Commands under limits of the system that are too low for WebAssembly and workers. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { BIN, ended } from "./support/bin.js";
import { makeTree } from "./support/tree.js";

const CREATE = ["snapshot", "create", "image", "out"];

test.each<[number, readonly string[]]>([
  // The main thread cannot instantiate a module; nor can a worker, or it cannot even start.
  [1, CREATE],
  [6, CREATE],
  [11.75, CREATE],
  [12.25, CREATE],
  [12.75, CREATE],
  [6, ["paths", "build", "paths", "--source-kind", "list", "--output", "out"]],
])("%d GB of address space are an ERR_WORKER in one line of %j", async (size, args) => {
  const root = makeTree({ paths: "/a\n/b\n" });
  writeFileSync(join(root, "image"), Buffer.alloc(2 ** 20, 1));
  const node = [process.execPath, BIN, ...args, "--json"];
  const child = spawn("prlimit", [`--as=${size * 1e9}`, ...node], { cwd: root });
  const { code, out, err } = await ended(child);
  expect([code, out]).toEqual([3, ""]);
  expect(err).toMatch(/^\{"error":\{"code":"ERR_WORKER","message":".*ulimit -v.*"\}\}\n$/);
});
