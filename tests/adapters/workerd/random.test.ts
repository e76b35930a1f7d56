/** Random exchanges with the adapters in workerd, in front of an origin over real sockets. */
import { createServer } from "node:http";
import { describe, test } from "vitest";
import {
  checkExchanges,
  FRAMING,
  LIMIT,
  type Subject,
  served,
  TITLE,
} from "../../support/http/check.js";
import { startDirectWorker } from "../../support/http/direct-worker.js";
import { closed, listening } from "../../support/http/listen.js";

function subject(entry: string): Subject {
  return {
    exact: { requests: false, responses: false },
    latin1: { requests: true, responses: true },
    // workerd adds the name of the worker to its requests.
    free: { requests: [...FRAMING, "cf-worker"], responses: FRAMING },
    nominates: false,
    async start(headers, origin) {
      const server = createServer(origin.listener);
      const OPTIONS = { headers } as never;
      const { worker, url } = await startDirectWorker(entry, { OPTIONS }, await listening(server));
      return served(url, () => Promise.all([worker.dispose(), closed(server)]));
    },
  };
}

describe(TITLE, LIMIT, () => {
  test.for(["proxy-worker", "proxy-hono"])("%s in workerd", (name) =>
    checkExchanges(subject(`tests/adapters/workerd/${name}.ts`)),
  );
});
