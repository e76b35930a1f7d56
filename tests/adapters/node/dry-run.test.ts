/** Random exchanges with dry runs of the adapters for Node's servers, over real sockets. */
import { createServer, type RequestListener } from "node:http";
import type { AdapterReport } from "hedgerow/connect";
import { describe, test } from "vitest";
import {
  checkDryRuns,
  DRY_RUN_LIMIT,
  DRY_RUN_TITLE,
  type DryRunSubject,
  MODES,
  type Mode,
  servedModes,
} from "../../support/http/check-dry-run.js";
import { closed, listening } from "../../support/http/listen.js";
import { exists } from "../../support/http/paths.js";
import { honoListener, listeners, type MakeListener } from "./listeners.js";

function subject(makeListener: MakeListener): DryRunSubject {
  return {
    latin1: { requests: true, responses: true },
    free: { requests: [], responses: [] },
    nominates: true,
    async start(headers, origin) {
      const reports: Record<Mode, AdapterReport[]> = { bare: [], dry: [], enforcing: [] };
      const optionsOf = (mode: Mode) => ({
        headers,
        paths: exists,
        dryRun: mode === "dry",
        report: (report: AdapterReport) => void reports[mode].push(report),
      });
      const made = MODES.map(async (mode): Promise<[string, RequestListener]> => {
        const options = mode === "bare" ? undefined : optionsOf(mode);
        return [mode, await makeListener(options, origin)];
      });
      const byMode = new Map(await Promise.all(made));
      const server = createServer((request, response) => {
        const [, mode = ""] = request.url!.split("/");
        byMode.get(mode)!(request, response);
      });
      return servedModes(
        await listening(server),
        async (mode) => reports[mode].splice(0),
        () => closed(server),
      );
    },
  };
}

const hono: DryRunSubject = {
  ...subject(honoListener),
  // Node writes a head before a stream as UTF-8.
  latin1: { requests: true, responses: false },
  // The server stores response fields in a plain object.
  free: { requests: [], responses: ["__proto__"] },
};

describe(DRY_RUN_TITLE, DRY_RUN_LIMIT, () => {
  const subjects = {
    ...Object.fromEntries(
      Object.entries(listeners).map(([name, listener]) => [name, subject(listener)]),
    ),
    "hono on Node": hono,
  };
  test.for(Object.entries(subjects))("%s", ([, subject]) => checkDryRuns(subject));
});
