/** An app of Next.js with middleware and a route that run at the edge, built by both of its bundlers, and asked. */
import { expect, test } from "vitest";

import { expectJob } from "./support/job.js";
import { startedApp } from "./support/next.js";
import { PATIENCE } from "./support/project.js";

test.for<[name: string, args: string[]]>([
  ["Turbopack", []],
  ["webpack", ["--webpack"]],
])("built by %s, it does the job", { timeout: PATIENCE }, async ([, args]) => {
  const url = await startedApp("next-edge", args);
  await expectJob(url);
  const { headers } = await fetch(new URL("/known", url));
  expect(headers.get("x-proxy")).toBe("next-edge");
});
