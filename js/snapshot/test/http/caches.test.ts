/** HTTP caches between the client and the server, whose bytes may be damaged. */
import { expect, test } from "vitest";

import { restore, serve } from "../support/faulty.js";
import { faultsOf, isHead, isPart, isTail } from "../support/remote.js";

/** The requests that make caches fetch the bytes anew. */
const isFresh = ({ headers }: { headers: Record<string, unknown> }) =>
  headers["cache-control"] === "no-cache";

test.each([
  ["a range", isPart, {}],
  ["the end", isTail, {}],
  ["the beginning", isHead, { connections: undefined }],
] as const)(
  "requests damaged bytes of %s anew from the server, past caches",
  async (_, which, options) => {
    // A cache would damage the bytes again.
    const origin = await serve({
      faults: (request) => {
        if (isFresh(request)) return undefined;
        return which(request) ? { flipBit: 80_000 } : undefined;
      },
    });
    expect(await restore(origin, options)).toBe(undefined);
    expect(origin.requests.some(isFresh)).toBe(true);
  },
);

test("does not bypass caches after other failures", async () => {
  const origin = await serve({ faults: faultsOf(isPart, { status: 503 }, 2) });
  expect(await restore(origin)).toBe(undefined);
  expect(origin.requests.some(isFresh)).toBe(false);
});
