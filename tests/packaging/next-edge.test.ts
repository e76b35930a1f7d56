/** An app of Next.js with middleware and a route that run at the edge, built and asked. */
import { expect, test } from "vitest";

import { trials } from "../support/trials.js";
import { expectJob } from "./support/job.js";
import { startedApp } from "./support/next.js";
import { PATIENCE } from "./support/project.js";

/** The bundlers of Next.js: first its usual one. */
const BUNDLERS: [name: string, args: string[]][] = [
  ["Turbopack", []],
  ["webpack", ["--webpack"]],
];

test.for(BUNDLERS.slice(0, trials({ few: 1, all: BUNDLERS.length })))(
  "built by %s, it does the job",
  { timeout: PATIENCE },
  async ([, args]) => {
    const url = await startedApp("next-edge", args);
    await expectJob(url);
    const { headers } = await fetch(new URL("/known", url));
    expect(headers.get("x-proxy")).toBe("next-edge");
  },
);
