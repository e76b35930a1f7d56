/** Random exchanges with the adapters for Node's servers, over real sockets. */
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
import { closed, listening } from "../../support/http/listen.js";
import { honoListener, listeners, type MakeListener } from "./listeners.js";

function subject(makeListener: MakeListener): Subject {
  return {
    exact: { requests: true, responses: true },
    latin1: { requests: true, responses: true },
    free: { requests: [], responses: FRAMING },
    nominates: true,
    async start(rules, origin) {
      const server = createServer(await makeListener({ headers: rules }, origin));
      return served(await listening(server), () => closed(server));
    },
  };
}

const hono: Subject = {
  ...subject(honoListener),
  exact: { requests: false, responses: false },
  // Node writes a head before a stream as UTF-8.
  latin1: { requests: true, responses: false },
  // The server adds a missing content type, and stores response fields in a plain object.
  free: { requests: [], responses: [...FRAMING, "content-type", "__proto__"] },
};

describe(TITLE, LIMIT, () => {
  const subjects = {
    ...Object.fromEntries(
      Object.entries(listeners).map(([name, listener]) => [name, subject(listener)]),
    ),
    "hono on Node": hono,
  };
  test.for(Object.entries(subjects))("%s", ([, subject]) => checkExchanges(subject));
});
