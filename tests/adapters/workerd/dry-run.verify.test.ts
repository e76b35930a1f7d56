/** Random exchanges with dry runs of the adapters in workerd, in front of an origin over real sockets. */
import { createServer } from "node:http";
import type { AdapterReport } from "hedgerow/workers";
import { describe, test } from "vitest";
import {
  checkDryRuns,
  DRY_RUN_LIMIT,
  DRY_RUN_TITLE,
  type DryRunSubject,
  servedModes,
} from "../../support/http/check-dry-run.js";
import { startDirectWorker } from "../../support/http/direct-worker.js";
import { closed, listening } from "../../support/http/listen.js";

function subject(ADAPTER: string): DryRunSubject {
  return {
    latin1: { requests: true, responses: true },
    free: { requests: [], responses: [] },
    nominates: false,
    // workerd drops common fields without a value.
    losesEmpty: true,
    async start(rules, origin) {
      const server = createServer(origin.listener);
      const { worker, url } = await startDirectWorker(
        "tests/adapters/workerd/dry-run.ts",
        { ADAPTER, HEADERS: rules as never },
        await listening(server),
      );
      return servedModes(
        url,
        async (mode) => {
          const response = await fetch(new URL(`${mode}/reports`, url));
          return (await response.json()) as AdapterReport[];
        },
        () => Promise.all([worker.dispose(), closed(server)]),
      );
    },
  };
}

describe(DRY_RUN_TITLE, DRY_RUN_LIMIT, () => {
  test.for(["workers", "hono"])("hedgerow/%s in workerd", (name) => checkDryRuns(subject(name)));
});
