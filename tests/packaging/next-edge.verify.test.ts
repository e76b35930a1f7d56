/** A Next.js app with middleware and a route in the edge runtime. */
import { expect, test } from "vitest";

import { trials } from "../support/trials.js";
import { startApp } from "./support/next.js";
import { TEST_TIMEOUT } from "./support/project.js";
import { expectProtected } from "./support/protected.js";

/** The bundlers of Next.js, starting with the default. */
const BUNDLERS: [name: string, args: string[]][] = [
  ["Turbopack", []],
  ["webpack", ["--webpack"]],
];

test.for(BUNDLERS.slice(0, trials({ few: 1, all: BUNDLERS.length })))(
  "strips headers and guards paths in the edge runtime when built by %s",
  { timeout: TEST_TIMEOUT },
  async ([, args]) => {
    const url = await startApp("next-edge", { args });
    await expectProtected(url);
    const { headers } = await fetch(new URL("/known", url));
    expect(headers.get("x-proxy")).toBe("next-edge");
  },
);
