/** Real apps of Next.js, built and asked: a proxy, which runs in Node, and middleware, which runs at the edge. */
import { expect, test } from "vitest";

import { expectJob } from "./support/job.js";
import { startedApp } from "./support/next.js";
import { PATIENCE } from "./support/project.js";

test.for<[name: string, app: string, args: string[]]>([
  ["proxy.ts", "next-proxy", []],
  ["middleware.ts and a route at the edge", "next-edge", []],
  ["middleware.ts and a route at the edge, by webpack", "next-edge", ["--webpack"]],
])("%s", { timeout: PATIENCE }, async ([, app, args]) => {
  const url = await startedApp(app, args);
  await expectJob(url);
  const { headers } = await fetch(new URL("/known", url));
  expect(headers.get("x-proxy")).toBe(app);
});
